import { label, show } from 'show';
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
