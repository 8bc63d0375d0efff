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
()=>new Blob(5), ()=>new Blob().size, ()=>new Blob(['a',new Uint8Array([98]),new ArrayBuffer(1),new Blob(['c'])]).size, async()=>await new Blob(['h\u00e9y']).text(), ()=>new Blob(['a'],{type:'Text/PLAIN'}).type, ()=>new Blob(['a'],{type:'bad\u0100'}).type, async()=>await new Blob(['hello']).slice(1,3).text(), async()=>await new Blob(['hello']).slice(-3,-1).text(), ()=>new Blob(['hello']).slice(1,3,'x/y').type, async()=>(await new Blob(['abc']).arrayBuffer()).byteLength, async()=>(await new Blob(['abc']).bytes()).length, async()=>{const out=[]; for await(const c of new Blob(['abc']).stream()) out.push([...c]); return out}, ()=>new Blob([5]).size, ()=>new Blob([{}]).size, ()=>new Blob('abc'), ()=>new Blob({}), ()=>new File(), ()=>new File(['a']), ()=>new File(['a'],'n').name, ()=>new File(['a'],'n',{lastModified:5,type:'a/b'}).lastModified, ()=>new File(['a'],'n') instanceof Blob, ()=>Object.getOwnPropertyNames(Blob.prototype).join(), ()=>Object.getOwnPropertyNames(File.prototype).join(), ()=>new Blob(['a'],5), ()=>new Blob(['a\r\nb'],{endings:'native'}).size, ()=>Object.prototype.toString.call(new File(['a'],'n')), async()=>await structuredClone(new Blob(['zz'],{type:'q/r'})).text(), ()=>structuredClone(new File(['zz'],'f.txt')).name,()=>new Blob([1,[2]]).size,()=>new Blob(['a'],{type:'a/b;x="y"'}).type,()=>new Blob(['a'],{type:'nonsense'}).type,
()=>new FormData().get('x'), ()=>{const f=new FormData(); f.append('a','1'); f.append('a','2'); return [f.getAll('a'),f.get('a'),f.has('a')]}, ()=>new FormData().append('a'), ()=>{const f=new FormData(); f.append('a',new Blob(['x'])); return f.get('a').name+f.get('a').constructor.name}, ()=>{const f=new FormData(); f.append('a',new Blob(['x']),'n.txt'); return f.get('a').name}, ()=>{const f=new FormData(); f.append('a','x','n'); }, ()=>{const f=new FormData(); f.set('a',1); f.set('a',2); return [...f]}, ()=>Object.getOwnPropertyNames(FormData.prototype).join(), ()=>new FormData(5), ()=>new FormData().forEach(1), ()=>Object.prototype.toString.call(new FormData().entries()),()=>{const f=new FormData(); f.append('a',{}); return f.get('a')},()=>{const f=new FormData(); f.append('a',5); return f.get('a')},()=>{const f=new FormData(); f.append('a','1'); f.delete('a'); return [...f.keys()]},
]; for (const act of cases) await show(label(act), act); } };
