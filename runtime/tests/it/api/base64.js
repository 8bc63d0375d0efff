import { label, show } from 'show';
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
