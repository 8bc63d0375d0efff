import { label, show } from 'show';
export default {
  async test() {
    const cases = [
      ()=>new URL(),
      ()=>new URL('x','y'),
      ()=>new URL('x','http://a').href,
      ()=>URL.prototype.href,
      ()=>URL.canParse(),
      ()=>URL.parse('x'),
      ()=>URL.length,
      ()=>{const u=new URL('http://a'); u.href='zz'},
      ()=>URL.name,
      ()=>Object.prototype.toString.call(new URL('http://a')),
      ()=>Object.getOwnPropertyNames(URL.prototype).map(n=>{const d=Object.getOwnPropertyDescriptor(URL.prototype,n);return n+':'+(d.get?'g':'')+(d.set?'s':'')+(d.writable?'w':'-')+(d.enumerable?'e':'-')+(d.configurable?'c':'-')+typeof d.value+(d.value?.length??'')}).join(),
      ()=>Object.keys(new URL('http://a')),
      ()=>JSON.stringify(Object.getOwnPropertyDescriptor(URL.prototype, Symbol.toStringTag)),
      ()=>Object.getOwnPropertyDescriptor(URL.prototype,'href').get.call({}),
      ()=>URL.prototype.toString.call({}),
      ()=>new URLSearchParams([[1]]),
      ()=>new URLSearchParams([[1,2,3]]),
      ()=>new URLSearchParams(5).toString(),
      ()=>new URLSearchParams(null).toString(),
      ()=>new URLSearchParams(undefined).toString(),
      ()=>new URLSearchParams({a:1,b:null}).toString(),
      ()=>new URLSearchParams().append('a'),
      ()=>new URLSearchParams().forEach(1),
      ()=>new URLSearchParams('a=1').has('a','2'),
      ()=>Object.prototype.toString.call(new URLSearchParams().entries()),
      ()=>new URLSearchParams(Symbol()),
      ()=>new URLSearchParams([1]),
      ()=>new URLSearchParams().entries().next.call({}),
      ()=>Object.getOwnPropertyNames(Object.getPrototypeOf(new URLSearchParams().entries())).join(),
    ];
    for (const act of cases) await show(label(act), act);
  },
};
