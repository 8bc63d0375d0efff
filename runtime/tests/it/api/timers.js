import { label, show } from 'show';
export default {
  async test() {
    const cases = [
      ()=>setTimeout(),
      ()=>setTimeout('x'),
      ()=>setTimeout(()=>{}),
      ()=>setTimeout(()=>{}, 1),
      ()=>clearTimeout('abc'),
      ()=>clearTimeout(),
      ()=>clearTimeout({}),
      ()=>setInterval(()=>{},10n),
      ()=>setTimeout(()=>{}, NaN),
      ()=>setTimeout(()=>{}, {}),
      ()=>setTimeout.length+setTimeout.name,
      ()=>queueMicrotask(),
      ()=>queueMicrotask(1),
      ()=>setTimeout.call(5, ()=>{},1),
      ()=>setTimeout(null,1),
      ()=>clearTimeout(1n),
      ()=>clearTimeout(9999),
      ()=>clearTimeout(NaN),
    ];
    for (const act of cases) await show(label(act), act);
  },
};
