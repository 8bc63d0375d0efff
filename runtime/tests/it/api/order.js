export default { async test() {
 console.log(JSON.stringify(Object.getOwnPropertyDescriptors(navigator)));
 console.log(JSON.stringify(Object.getOwnPropertyDescriptors(new MessageEvent('a',{data:1}))), JSON.stringify(Object.getOwnPropertyDescriptors(new CloseEvent('a'))), JSON.stringify(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(new MessageEvent('m')))));
 
 
 for (const d of [0, -1, 0.5, 2.7, 1e12, Infinity]) try { const id=setTimeout(()=>{},d); clearTimeout(id); console.log(d,id);} catch(e){console.log(d,e.name,e.message)}
 const order=[]; await new Promise(r=>{ setTimeout(()=>order.push('t10'),10); setTimeout(()=>order.push('t0'),0); setTimeout(()=>order.push('t0b'),0); setTimeout(function(...a){order.push('this:'+(this===globalThis)+a)},1,1,2); queueMicrotask(()=>order.push('m')); Promise.resolve().then(()=>order.push('p')); setTimeout(r,20); order.push('sync'); }); console.log(order.join());
 let n=0; await new Promise(r=>{const i=setInterval(()=>{ if(++n===3){clearInterval(i);r()}},1)}); console.log('n',n);
 try { console.log(clearTimeout(undefined), clearTimeout(null)) } catch(e) {console.log(e.message)}
 
 
}};
