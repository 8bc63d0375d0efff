import { label, show } from 'show';
export default {
  async test() {
    const cases = [
      ()=>new MessageChannel().port1 instanceof MessagePort,
      ()=>new MessagePort(),
      ()=>Object.getOwnPropertyNames(MessagePort.prototype).sort().join(),
      ()=>Object.getOwnPropertyNames(MessageChannel.prototype).sort().join(),
      ()=>new MessageChannel().port1.onmessage,
      ()=>new MessageChannel().port1 === new MessageChannel().port1,
      ()=>{const c=new MessageChannel();return c.port1 === c.port1},
      async()=>{const {port1,port2}=new MessageChannel();const got=new Promise((r)=>{port2.onmessage=(e)=>r([e.data,e.type,e.origin,e.ports.length,e.source,e.lastEventId,e.constructor.name])});port1.postMessage({a:[1,new Date(0)]});return JSON.stringify(await got)},
      async()=>{const {port1,port2}=new MessageChannel();const got=[];port1.postMessage(1);port1.postMessage(2);const done=new Promise((r)=>port2.addEventListener('message',(e)=>{got.push(e.data);if(got.length===3)r()}));port2.start();port1.postMessage(3);await done;return got.join()},
      async()=>{const {port1,port2}=new MessageChannel();let n=0;port2.addEventListener('message',()=>n+=1);port1.postMessage(1);await scheduler.wait(1);return n},
      async()=>{const {port1,port2}=new MessageChannel();let n=0;port2.onmessage=()=>n+=1;port2.onmessage=null;port1.postMessage(1);await scheduler.wait(1);return n},
      async()=>{const {port1,port2}=new MessageChannel();let n=0;port2.onmessage=()=>n+=1;port2.close();port1.postMessage(1);await scheduler.wait(1);return n},
      async()=>{const {port1,port2}=new MessageChannel();let n=0;port2.onclose=()=>n+=1;port1.close();await scheduler.wait(1);return n},
      ()=>new MessageChannel().port1.postMessage(),
      ()=>new MessageChannel().port1.postMessage(()=>{}),
      ()=>new MessageChannel().port1.postMessage(Symbol()),
      ()=>{const c=new MessageChannel();c.port1.postMessage(1,[c.port1])},
      ()=>{const c=new MessageChannel();c.port1.postMessage(1,[new ArrayBuffer(1)])},
      ()=>{const c=new MessageChannel();c.port1.postMessage(1,{transfer:[]})},
      ()=>{const c=new MessageChannel();c.port1.postMessage(1,5)},
      ()=>{const c=new MessageChannel();c.port1.onmessage = 5; return c.port1.onmessage},
      ()=>structuredClone(new MessageChannel().port1),
      async()=>{const {port1,port2}=new MessageChannel();const order=[];port2.onmessage=(e)=>order.push(e.data);port1.postMessage('m');queueMicrotask(()=>order.push('micro'));order.push('sync');await scheduler.wait(1);return order.join()},
      async()=>{const {port1,port2}=new MessageChannel();const p=new Promise((r)=>{port2.onmessage=(e)=>r(e.data.constructor.name+e.data.byteLength)});port1.postMessage(new Uint8Array(3));return await p},
      async()=>{const {port1,port2}=new MessageChannel();port2.onmessage=()=>port2.postMessage('pong');const p=new Promise((r)=>{port1.onmessage=(e)=>r(e.data)});port1.postMessage('ping');return await p},
      ()=>new MessageChannel().port1.start(),
      ()=>new MessageChannel().port1.close(),
      ()=>MessagePort.prototype.start.call({}),
    ];
    for (const act of cases) await show(label(act), act);
  },
};
