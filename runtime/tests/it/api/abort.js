import { label, show } from 'show';
export default {
  async test() {
    const cases = [
      ()=>new AbortController().abort(),
      ()=>new AbortSignal(),
      ()=>AbortSignal.abort().reason.message,
      ()=>AbortSignal.abort(1).reason,
      ()=>AbortSignal.timeout(),
      ()=>AbortSignal.timeout(-1),
      ()=>AbortSignal.any(),
      ()=>AbortSignal.any([1]),
      ()=>AbortSignal.any([]).aborted,
      ()=>AbortSignal.abort().throwIfAborted(),
      async()=>{const s=AbortSignal.timeout(1); await new Promise(r=>s.onabort=r); throw s.reason},
      ()=>AbortSignal.timeout('x'),
      ()=>AbortSignal.timeout(NaN),
    ];
    for (const act of cases) await show(label(act), act);
  },
};
