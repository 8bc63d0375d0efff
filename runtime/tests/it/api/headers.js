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
export default { async test() { const cases = [
()=>new Headers(5), ()=>new Headers([['a']]), ()=>new Headers([['a','b','c']]), ()=>new Headers({a:'b'}).get('A'), ()=>new Headers([['a','1'],['a','2']]).get('a'), ()=>new Headers('x'), ()=>new Headers(null), ()=>new Headers().append('a'), ()=>new Headers().append('bad name','x'), ()=>new Headers().append('a','x\ny'), ()=>new Headers({a:' x '}).get('a'), ()=>new Headers().set('a'), ()=>new Headers().get(), ()=>new Headers().has('x'), ()=>[...new Headers({b:'1',A:'2'})], ()=>[...new Headers([['set-cookie','a=1'],['set-cookie','b=2'],['x','y']])], ()=>new Headers([['set-cookie','a=1'],['set-cookie','b=2']]).getSetCookie(), ()=>new Headers([['set-cookie','a=1'],['set-cookie','b=2']]).get('set-cookie'), ()=>new Headers().getAll('x'), ()=>new Headers([['set-cookie','a=1'],['set-cookie','b=2']]).getAll('set-cookie'), ()=>new Headers().forEach(1), ()=>Object.getOwnPropertyNames(Headers.prototype).join(), ()=>Object.prototype.toString.call(new Headers().entries()), ()=>Object.prototype.toString.call(new Headers().keys()), ()=>new Headers({a:'b'}).delete('a'), ()=>new Headers({'':'x'}), ()=>{const h=new Headers({a:'1',b:'2'}); const out=[]; for(const [k] of h){out.push(k); h.delete(k); h.append('c','3')} return out}, ()=>{const o=[]; new Headers({b:'1',a:'2'}).forEach(function(v,k,h){o.push(v,k,typeof h,this?.z)},{z:1}); return o}, ()=>new Headers(new Headers({a:'b'})).get('a'), ()=>new Headers(new Map([['a','b']])).get('a'), ()=>Object.fromEntries(structuredClone(new Headers({a:'b'}))), ()=>new Headers({a:'x\0'}), ()=>new Headers({a:undefined}).get('a'),()=>new Headers({'x-A':'1'}).keys().next().value,()=>new Headers({'\u00e9':'1'}),()=>new Headers().get('b@d name'),
]; for (const act of cases) await show(label(act), act); } };
