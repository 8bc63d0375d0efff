import { label, show } from 'show';
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
