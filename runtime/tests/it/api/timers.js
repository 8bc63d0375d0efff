const show = async (label, act) => {
  try {
    const value = await act();
    let text;
    if (typeof value === 'string') text = JSON.stringify(value);
    else if (typeof value === 'object' && value !== null) text = Object.prototype.toString.call(value) + JSON.stringify(value);
    else text = typeof value === 'function' ? 'function' : String(value);
    console.log(label, '=>', text);
  } catch (error) {
    console.log(label, '!!', error?.name, '|', error?.message, '|', error?.constructor?.name, error?.code);
  }
};
const label = (act) => act.toString().replace(/^(async)?\s*\(\)\s*=>\s*/, '');
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
