import { label, show } from 'show';
export default {
  async test() {
    const cases = [
      ()=>Object.prototype.toString.call(navigator),
      ()=>Object.getOwnPropertyNames(Navigator.prototype).sort().filter((n)=>n!=='storage').join(),
      ()=>navigator.userAgent,
      ()=>navigator.hardwareConcurrency,
      ()=>navigator.platform,
      ()=>navigator.language,
      ()=>navigator.languages,
      ()=>typeof navigator.gpu,
      ()=>navigator.sendBeacon(),
      ()=>new Navigator(),
      ()=>navigator.userAgent = 'x',
      ()=>navigator.userAgent.length,
      ()=>Navigator.prototype.userAgent,
      ()=>Object.keys(navigator).join(),
      ()=>{navigator.own = 1; return navigator.own},
      ()=>navigator instanceof Navigator,
      ()=>Object.isExtensible(navigator),
      ()=>navigator.onLine,
      ()=>navigator.webdriver,
      ()=>navigator.cookieEnabled,
      ()=>navigator.deviceMemory,
      ()=>navigator.vendor,
      ()=>navigator.appVersion,
      ()=>navigator.locks,
    ];
    for (const act of cases) await show(label(act), act);
  },
};
