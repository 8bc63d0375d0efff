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
