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
