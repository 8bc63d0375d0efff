import { label, show } from 'show';
// Where the clock could be read, beside Date.now(). The text has no parts smaller than a minute.
const parts = { timeZone: 'UTC', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', hour12: false };
const format = new Intl.DateTimeFormat('en', parts);
const near = (a, b) => Math.abs(a - b) < 60000;
const joined = (list) => list.map((part) => part.value).join('');
const descriptor = (object, key) => { const d = Object.getOwnPropertyDescriptor(object, key); return [typeof d.get, typeof d.set, typeof d.value, d.writable, d.enumerable, d.configurable].join(); };
export default {
  async test() {
    const cases = [
      ()=>near(+new Date(), Date.now()),
      ()=>near(Date.parse(Date()), Date.now()),
      ()=>near(+Reflect.construct(Date, []), Date.now()),
      ()=>near(performance.timeOrigin + performance.now(), Date.now()),
      ()=>near(+new (class extends Date {})(), Date.now()),
      ()=>near(new File([], 'x').lastModified, Date.now()),
      ()=>near(performance.mark('a').startTime + performance.timeOrigin, Date.now()),
      ()=>format.format() === format.format(Date.now()),
      ()=>format.format(undefined) === format.format(new Date()),
      ()=>joined(format.formatToParts()) === format.format(Date.now()),
      ()=>joined(format.formatToParts(undefined)) === format.format(Date.now()),
      ()=>format.format(0),
      ()=>format.format(null),
      ()=>format.format(new Date(86400000)),
      ()=>joined(format.formatToParts(0)),
      ()=>format.format('x'),
      ()=>format.format(1n),
      ()=>format.format(NaN),
      ()=>format.formatToParts({}),
      ()=>format.format === format.format,
      ()=>new Intl.DateTimeFormat('en').format === format.format,
      ()=>(0, format.format)(0) === format.format(0),
      ()=>[0, 1].map(format.format).join(),
      ()=>format.format.name + '|' + format.format.length + '|' + ('prototype' in format.format),
      ()=>format.formatToParts.name + format.formatToParts.length,
      ()=>descriptor(Intl.DateTimeFormat.prototype, 'format'),
      ()=>descriptor(Intl.DateTimeFormat.prototype, 'formatToParts'),
      ()=>Intl.DateTimeFormat.prototype.format,
      ()=>Intl.DateTimeFormat.prototype.formatToParts.call({}, 0),
      ()=>Intl.DateTimeFormat.prototype.formatToParts(0),
      ()=>Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format').get.name,
      ()=>Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format').get.call({}),
      ()=>Object.getOwnPropertyNames(Intl.DateTimeFormat.prototype).sort().join(),
      ()=>Reflect.ownKeys(format).length,
      ()=>format.formatRange(),
      ()=>new Date(0).toLocaleString('en', { timeZone: 'UTC' }),
      ()=>new Event('x').timeStamp,
      ()=>typeof Temporal,
    ];
    for (const act of cases) await show(label(act), act);
  },
};
