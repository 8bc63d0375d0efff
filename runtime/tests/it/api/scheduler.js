import { label, show } from 'show';
export default {
  async test() {
    const cases = [
      ()=>Object.prototype.toString.call(scheduler),
      ()=>Object.getOwnPropertyNames(Object.getPrototypeOf(scheduler)).sort().join(),
      ()=>scheduler.wait(),
      ()=>scheduler.wait(0),
      ()=>scheduler.wait(5),
      ()=>scheduler.wait('3'),
      ()=>scheduler.wait(NaN),
      ()=>scheduler.wait(-5),
      ()=>scheduler.wait({}),
      ()=>scheduler.wait(1, 5),
      ()=>scheduler.wait(1, {}),
      ()=>scheduler.wait(1, { signal: 5 }),
      ()=>scheduler.wait(1, { signal: AbortSignal.abort() }),
      ()=>scheduler.wait(1, { signal: AbortSignal.abort(new RangeError('why')) }),
      async()=>{const c=new AbortController();const w=scheduler.wait(1000, { signal: c.signal });c.abort('text');try{await w}catch(e){return 'threw ' + e}},
      async()=>{const c=new AbortController();await scheduler.wait(1, { signal: c.signal });c.abort();return 'done'},
      ()=>scheduler.wait.call({}, 1),
      ()=>scheduler instanceof Object,
      ()=>typeof Scheduler,
      ()=>scheduler.postTask,
      ()=>scheduler.yield,
      async()=>{const out=[];await Promise.all([scheduler.wait(3).then(()=>out.push(3)),scheduler.wait(1).then(()=>out.push(1)),scheduler.wait(2).then(()=>out.push(2))]);return out.join()},
      ()=>scheduler.wait(1).then((v)=>v),
      ()=>{scheduler = 5; return typeof scheduler},
    ];
    for (const act of cases) await show(label(act), act);
  },
};
