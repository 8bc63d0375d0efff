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
export default { async test() { const cases = [
()=>{const e=structuredClone(new DOMException('a','AbortError')); return [e.name,e.message,e.code,e instanceof DOMException]}, ()=>{const h=new Headers({a:'b'}); const c=structuredClone({x:h,y:h}); return [c.x===c.y, c.x.get('a'), c.x===h]}, ()=>structuredClone([new URL('http://a')]), ()=>structuredClone(new ReadableStream()), ()=>structuredClone(new WritableStream()), ()=>structuredClone(new Request('http://a')), ()=>structuredClone(new Response('a')), ()=>structuredClone(Object.create(Headers.prototype)), ()=>structuredClone(new (class X extends Headers{})).constructor.name, ()=>structuredClone(new (class X extends Map{})).constructor.name, ()=>structuredClone(new TextEncoder()), ()=>structuredClone(crypto), ()=>structuredClone(new FormData()), ()=>structuredClone(new EventTarget()),()=>structuredClone(new (class Y extends EventTarget{z=1})),
]; for (const act of cases) await show(label(act), act); } };
