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
      ()=>performance.timeOrigin,
      ()=>Object.getOwnPropertyNames(Performance?.prototype??{}).join(),
      ()=>Object.getOwnPropertyNames(Object.getPrototypeOf(performance)).join(),
      ()=>performance.mark('a'),
      ()=>performance.toJSON(),
      ()=>performance.getEntries?.(),
      ()=>navigator.hardwareConcurrency,
      ()=>scheduler.wait(),
      ()=>scheduler.wait(1),
      ()=>scheduler.wait(1,{signal:AbortSignal.abort()}),
      ()=>scheduler.wait('x'),
      ()=>Object.getOwnPropertyNames(Object.getPrototypeOf(scheduler)).join(),
      ()=>new Navigator(),
      ()=>self===globalThis,
      ()=>origin,
      ()=>globalThis instanceof EventTarget,
      ()=>scheduler.wait(NaN),
      ()=>typeof navigator.gpu,
    ];
    for (const act of cases) await show(label(act), act);
  },
};
