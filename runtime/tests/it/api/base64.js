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
      ()=>atob('a'),
      ()=>atob('YQ'),
      ()=>atob(' Y Q = = '),
      ()=>atob('Y Q='),
      ()=>atob(),
      ()=>atob('!'),
      ()=>btoa('\u0100'),
      ()=>btoa(),
      ()=>btoa(null),
      ()=>btoa(5),
      ()=>atob('YR=='),
      ()=>atob('YQ==='),
    ];
    for (const act of cases) await show(label(act), act);
  },
};
