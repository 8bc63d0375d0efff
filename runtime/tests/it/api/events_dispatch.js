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
()=>{const t=new EventTarget();const e=new Event('a');t.addEventListener('a',e=>e.preventDefault());return [t.dispatchEvent(e),e.defaultPrevented]}, ()=>{const t=new EventTarget();const e=new Event('a',{cancelable:true});t.addEventListener('a',e=>e.preventDefault());return [t.dispatchEvent(e),e.defaultPrevented]}, ()=>{const t=new EventTarget();const e=new Event('a');t.addEventListener('a',e=>true);return [t.dispatchEvent(e),e.defaultPrevented]}, ()=>{const e=new Event('a'); e.preventDefault(); return e.defaultPrevented},()=>{const t=new EventTarget(); const o=[]; t.addEventListener('a',function(e){o.push(this===t,e.currentTarget===t,e.eventPhase,e.composedPath().length)},{once:true}); t.dispatchEvent(new Event('a')); t.dispatchEvent(new Event('a')); return o},()=>{const t=new EventTarget(); const o=[]; t.ona=()=>o.push('on'); t.addEventListener('a',(e)=>{o.push(1);e.stopImmediatePropagation()}); t.addEventListener('a',()=>o.push(2)); t.dispatchEvent(new Event('a')); return o},()=>{const t=new EventTarget(); const o=[]; const c=new AbortController(); t.addEventListener('a',()=>o.push(1),{signal:c.signal}); t.dispatchEvent(new Event('a')); c.abort(); t.dispatchEvent(new Event('a')); return o},()=>{const o=[]; const h={handleEvent(e){o.push(this===h)}}; const t=new EventTarget(); t.addEventListener('a',h); t.addEventListener('a',h); t.dispatchEvent(new Event('a')); return o},()=>{const e=new Event('a',{cancelable:true}); e.cancelBubble=true; return [e.cancelBubble,e.returnValue]},
async()=>{const o=[]; const c=new AbortController(); c.signal.addEventListener('abort',()=>o.push('l')); c.signal.onabort=()=>o.push('on'); const d=AbortSignal.any([c.signal]); d.addEventListener('abort',()=>o.push('any')); c.abort('r'); c.abort('r2'); return [o,c.signal.reason,d.reason]},()=>{const c=new AbortController(); c.abort(); let n=0; c.signal.addEventListener('abort',()=>n++); return n},
]; for (const act of cases) await show(label(act), act); } };
