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
      ()=>new Event(),
      ()=>new Event('a').type,
      ()=>new Event('a',5),
      ()=>new EventTarget().addEventListener(),
      ()=>new EventTarget().addEventListener('a'),
      ()=>new EventTarget().addEventListener('a',5),
      ()=>new EventTarget().addEventListener('a',null),
      ()=>new EventTarget().addEventListener('a','x'),
      ()=>new EventTarget().dispatchEvent(),
      ()=>new EventTarget().dispatchEvent({}),
      ()=>{const e=new EventTarget();e.addEventListener('a', ()=>{throw new Error('in')});return e.dispatchEvent(new Event('a'))},
      ()=>new EventTarget().addEventListener('a',{}),
      ()=>new EventTarget().addEventListener('a', ()=>{},{signal:5}),
      ()=>new CustomEvent('a',{detail:5}).detail,
      ()=>new CustomEvent('a').detail,
      ()=>new ErrorEvent('error',{message:'m',error:1}).error,
      ()=>new MessageEvent('message',{data:1}).data,
      ()=>new CloseEvent('close',{code:1000,reason:'r',wasClean:true}).code,
      ()=>new PromiseRejectionEvent('a',{promise:1}),
      ()=>Object.getOwnPropertyNames(new Event('a')).join(),
      ()=>JSON.stringify(new Event('x')),
      ()=>Object.getOwnPropertyNames(Event).join(),
      ()=>Object.getOwnPropertyNames(Event.prototype).join(),
      ()=>new EventTarget().addEventListener('a', ()=>{},{capture:true}),
      ()=>{const t=new EventTarget();const e=new Event('a');t.addEventListener('a', ()=>t.dispatchEvent(e));t.dispatchEvent(e)},
      ()=>new EventTarget().addEventListener('a', ()=>{},{passive:true}),
      ()=>{class X extends EventTarget{};return new X() instanceof X},
      ()=>Object.getOwnPropertyNames(CustomEvent.prototype).join(),
      ()=>Object.getOwnPropertyNames(ErrorEvent.prototype).join(),
      ()=>Object.getOwnPropertyNames(MessageEvent.prototype).join(),
      ()=>Object.getOwnPropertyNames(CloseEvent.prototype).join(),
      ()=>Object.getOwnPropertyNames(PromiseRejectionEvent.prototype).join(),
      ()=>new ErrorEvent('x',{}).filename,
      ()=>new MessageEvent('x',{}).data,
      ()=>new MessageEvent('x').origin,
      ()=>Object.getOwnPropertyNames(AbortSignal.prototype).join(),
      ()=>Object.getOwnPropertyNames(AbortController.prototype).join(),
      ()=>Object.getOwnPropertyNames(AbortSignal).join(),
      ()=>new CloseEvent('close',{code:'x'}).code,
    ];
    for (const act of cases) await show(label(act), act);
  },
};
