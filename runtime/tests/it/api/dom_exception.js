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
      ()=>new DOMException('m','n').code,
      ()=>new DOMException().name,
      ()=>new DOMException('m','DataCloneError').code,
      ()=>new DOMException('a') instanceof Error,
      ()=>Object.getOwnPropertyNames(DOMException).join(),
      ()=>Object.getOwnPropertyNames(DOMException.prototype).join(),
      ()=>Object.getOwnPropertyNames(new DOMException('x')).join(),
      ()=>String(new DOMException('m','AbortError')),
      ()=>Object.prototype.toString.call(new DOMException()),
      ()=>new DOMException('m',{name:'X',cause:1}).name,
      ()=>DOMException.length,
    ];
    for (const act of cases) await show(label(act), act);
  },
};
