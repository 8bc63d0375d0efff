import { label, show } from 'show';
export default {
  async test() {
    const cases = [
      ()=>structuredClone(),
      ()=>structuredClone(()=>{}),
      ()=>structuredClone(Symbol()),
      ()=>structuredClone(new URL('http://a')),
      ()=>structuredClone(new (class A{x=1})),
      ()=>structuredClone({a:new Date(0),b:[1n]}),
      ()=>structuredClone(new Error('x',{cause:1})).message,
      ()=>structuredClone(new ArrayBuffer(1),{transfer:[1]}),
      ()=>{const b=new ArrayBuffer(2);const c=structuredClone(b,{transfer:[b]});return b.byteLength+','+c.byteLength+b.detached},
      ()=>structuredClone(1,{transfer:1}),
      ()=>structuredClone(new WeakMap()),
      ()=>structuredClone(Promise.resolve()),
      ()=>structuredClone({f(){}}),
      ()=>structuredClone(1,null),
      ()=>structuredClone(1,5),
      ()=>{const b=new ArrayBuffer(2); return structuredClone(1,{transfer:[b,b]})},
      ()=>structuredClone(new Proxy({},{})),
      ()=>structuredClone(new Event('a')),
      ()=>structuredClone(new AbortController().signal),
      ()=>{const b=new ArrayBuffer(2);structuredClone(b,{transfer:[b]});return structuredClone(b,{transfer:[b]})},
      ()=>{const b=new ArrayBuffer(2);structuredClone(b,{transfer:[b]});return structuredClone(b)},
      ()=>structuredClone(function foo(){}),
      ()=>structuredClone(class X{}),
    ];
    for (const act of cases) await show(label(act), act);
  },
};
