export default { async test() {
  const log=[];
  addEventListener('unhandledrejection', (e)=>{ log.push('U:'+e.reason?.message+':'+(e.promise instanceof Promise)+e.type+e.cancelable); e.preventDefault(); });
  addEventListener('rejectionhandled', (e)=>{ log.push('H:'+e.reason?.message); });
  const p = Promise.reject(new Error('one'));
  await scheduler.wait(1);
  log.push('after');
  p.catch(()=>{});
  await scheduler.wait(1);
  Promise.reject(new Error('two')).catch(()=>log.push('caught'));
  const q = Promise.reject(new Error('three')); queueMicrotask(()=>q.catch(()=>log.push('late catch')));
  await scheduler.wait(1);
  console.log(log.join('|'));
}};
