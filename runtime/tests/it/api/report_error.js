import { label, show } from 'show';
export default {
  async test() {
    const cases = [
      ()=>reportError.length + reportError.name,
      ()=>reportError(),
      ()=>{let got;const f=(e)=>{got=[e.type, e.message, e.error?.message, e.filename, e.lineno, e.colno, e instanceof ErrorEvent];e.preventDefault()};addEventListener('error', f);reportError(new Error('told'));removeEventListener('error', f);got[4]=typeof got[4];got[5]=typeof got[5];return JSON.stringify(got)},
      ()=>{let got;const f=(e)=>{got=[e.message, e.error];e.preventDefault()};addEventListener('error', f);reportError('a text');removeEventListener('error', f);return JSON.stringify(got)},
      ()=>{let got;const f=(e)=>{got=[e.message, e.error];e.preventDefault()};addEventListener('error', f);reportError(undefined);removeEventListener('error', f);return JSON.stringify(got)},
      ()=>{let got;const f=(e)=>{got=[e.message, e.error];e.preventDefault()};addEventListener('error', f);reportError({ message: 'x' });removeEventListener('error', f);return JSON.stringify(got)},
      ()=>{let n=0;const f=(e)=>{n+=1;e.preventDefault();if(n===1)throw new Error('inside')};addEventListener('error', f);try{reportError(1)}catch(e){return 'threw ' + e.message}finally{removeEventListener('error', f)}return n},
    ];
    for (const act of cases) await show(label(act), act);
  },
};
