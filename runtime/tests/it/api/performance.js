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
      ()=>typeof performance.now(),
      ()=>performance.timeOrigin,
      ()=>Object.prototype.toString.call(performance),
      ()=>performance instanceof EventTarget,
      ()=>Object.getOwnPropertyNames(Performance.prototype).sort().join(),
      ()=>new Performance(),
      ()=>new PerformanceEntry(),
      ()=>performance.mark(),
      ()=>performance.mark('a').name,
      ()=>performance.mark('a').entryType,
      ()=>performance.mark('a').duration,
      ()=>performance.mark('b', { startTime: 5, detail: { x: 1 } }).startTime,
      ()=>performance.mark('b', { detail: { x: 1 } }).detail,
      ()=>performance.mark('b').detail,
      ()=>performance.mark('b', { startTime: -1 }),
      ()=>performance.mark('b', 5),
      ()=>new PerformanceMark('c', { startTime: 2 }).toJSON(),
      ()=>new PerformanceMark(),
      ()=>performance.getEntries().length,
      ()=>performance.getEntriesByName('b').length,
      ()=>performance.getEntriesByName('b', 'measure').length,
      ()=>performance.getEntriesByType('mark').length,
      ()=>performance.getEntriesByType('nope').length,
      ()=>performance.measure('m', { start: 1, end: 4 }).duration,
      ()=>performance.measure('m', { start: 1, duration: 4 }).startTime,
      ()=>performance.measure('m', { end: 9, duration: 4 }).startTime,
      ()=>performance.measure('m', { start: 1, end: 4, duration: 3 }),
      ()=>performance.measure('m', { start: 1, end: 4, detail: [1] }).detail,
      ()=>{performance.mark('s', { startTime: 3 });performance.mark('e', { startTime: 10 });return performance.measure('m', 's', 'e').duration},
      ()=>performance.measure('m', 's', 'missing'),
      ()=>performance.measure('m', 'missing'),
      ()=>performance.measure(),
      ()=>performance.measure('m', { start: 's', end: 'e' }).startTime,
      ()=>performance.measure('m').entryType,
      ()=>performance.measure('j', { start: 1, end: 2 }).toJSON(),
      ()=>performance.clearMeasures('j'),
      ()=>performance.getEntriesByName('j').length,
      ()=>performance.clearMarks('a'),
      ()=>performance.getEntriesByName('a').length,
      ()=>performance.clearMarks(),
      ()=>performance.getEntriesByType('mark').length,
      ()=>performance.clearMeasures(),
      ()=>performance.getEntries().length,
      ()=>performance.clearResourceTimings(),
      ()=>performance.setResourceTimingBufferSize(1),
      ()=>performance.toJSON(),
      ()=>PerformanceObserver.supportedEntryTypes,
      ()=>new PerformanceObserver(),
      ()=>new PerformanceObserver(()=>{}).observe({ entryTypes: ['mark'] }),
      ()=>new PerformanceObserver(()=>{}).takeRecords().length,
      ()=>new PerformanceObserver(()=>{}).disconnect(),
      ()=>performance.now.call({}),
      ()=>performance.eventCounts?.size,
      ()=>performance.nodeTiming,
      ()=>performance.timerify,
      ()=>performance.eventLoopUtilization,
    ];
    for (const act of cases) await show(label(act), act);
  },
};
