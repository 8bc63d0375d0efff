import { label, show } from 'show';
const streamOf = (...pieces) => new ReadableStream({ start(c) { for (const piece of pieces) c.enqueue(new TextEncoder().encode(piece)); c.close(); } });
// What a source tells of a text, until it ends.
const events = (types, ...pieces) => new Promise((resolve) => {
  const source = EventSource.from(streamOf(...pieces));
  const seen = [];
  for (const type of ['message', 'open', ...types]) source.addEventListener(type, (e) => seen.push([type, e.data, e.lastEventId, e.origin]));
  source.onerror = (e) => { seen.push(['error', e.constructor.name, source.readyState]); source.close(); resolve(JSON.stringify(seen)); };
});
export default {
  async test() {
    const cases = [
      ()=>[EventSource.CONNECTING, EventSource.OPEN, EventSource.CLOSED].join(),
      ()=>Object.getOwnPropertyNames(EventSource.prototype).sort().join(),
      ()=>Object.getOwnPropertyNames(EventSource).sort().join(),
      ()=>new EventSource(),
      ()=>new EventSource('nope'),
      ()=>new EventSource('http://a', 5),
      ()=>new EventSource('http://a', { withCredentials: true }),
      ()=>EventSource.from(),
      ()=>EventSource.from(5),
      ()=>{const s=EventSource.from(streamOf());const r=[s.url,s.readyState,s.withCredentials];s.close();return JSON.stringify([...r,s.readyState])},
      ()=>{const s=EventSource.from(streamOf());s.onmessage=5;const r=s.onmessage;s.close();return r},
      ()=>events([], 'data: one\n\n'),
      ()=>events([], 'data: one\ndata: two\n\n'),
      ()=>events([], 'data:one\n\ndata\n\ndata:\n\n'),
      ()=>events([], ': comment\n\ndata: x\n\n'),
      ()=>events(['mine'], 'event: mine\ndata: x\n\ndata: y\n\n'),
      ()=>events([], 'id: 7\ndata: x\n\ndata: y\n\nid\ndata: z\n\n'),
      ()=>events([], 'id: a\0b\ndata: x\n\n'),
      ()=>events([], 'data: x\r\ndata: y\r\n\r\n'),
      ()=>events([], 'data: x\rdata: y\r\r'),
      ()=>events([], 'da', 'ta: sp', 'lit\n', '\n'),
      ()=>events([], '\ufeffdata: bom\n\n'),
      ()=>events([], 'data: unfinished\n'),
      ()=>events([], 'data:  two spaces\n\n'),
      ()=>events([], 'unknown: x\ndata: y\n\n'),
      ()=>events([], 'event: \ndata: y\n\n'),
      ()=>events(['mine'], 'event: mine\n\n'),
      ()=>events([], 'retry: 10\ndata: y\n\n'),
      ()=>events([], 'data: \u00e9\u20ac\n\n'),
      ()=>events([], 'data: {"a":1}\n\n'),
      ()=>events([]),
    ];
    for (const act of cases) await show(label(act), act);
  },
};
