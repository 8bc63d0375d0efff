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
()=>{const o=[]; const c=new AbortController(); c.signal.onabort=()=>{o.push('on')}; c.signal.addEventListener('abort',()=>{o.push('l')}); c.abort(); return o},()=>{const o=[]; const c=new AbortController(); c.signal.addEventListener('abort',()=>{o.push('l')}); c.signal.onabort=()=>{o.push('on')}; c.signal.addEventListener('abort',()=>{o.push('l2')}); c.abort(); return o},()=>{const t=new EventTarget(); const o=[]; t.addEventListener('a',()=>{o.push('l')}); t.ona=()=>{o.push('on')}; t.dispatchEvent(new Event('a')); return o},()=>{const o=[]; const c=new AbortController(); const d=AbortSignal.any([c.signal]); d.addEventListener('abort',()=>{o.push('any')}); c.signal.addEventListener('abort',()=>{o.push('l')}); c.abort(); return o},()=>{const e=new Event('a'); e.preventDefault(); return e.returnValue},()=>{const o=[]; const c=new AbortController(); c.signal.onabort=()=>{o.push('on')}; c.signal.onabort=null; c.abort(); return o},()=>{const o=[]; const c=new AbortController(); c.signal.onabort={handleEvent(){o.push('h')}}; c.abort(); return o},
]; for (const act of cases) await show(label(act), act); } };
