import { label, show } from 'show';
export default {
  async test() {
    const cases = [
      ()=>crypto.getRandomValues(),
      ()=>crypto.getRandomValues(new Float32Array(1)),
      ()=>crypto.getRandomValues(new Uint8Array(65537)),
      ()=>crypto.getRandomValues([]),
      ()=>crypto.getRandomValues(new Uint8Array(2)).length,
      ()=>crypto.randomUUID().length,
      ()=>crypto.subtle.digest('foo',new Uint8Array()),
      ()=>crypto.subtle.digest(),
      ()=>crypto.subtle.digest('SHA-256'),
      ()=>crypto.subtle.digest('SHA-256','a'),
      async()=>(await crypto.subtle.digest({name:'md5'},new Uint8Array())).byteLength,
      ()=>crypto.subtle.timingSafeEqual(new Uint8Array(1),new Uint8Array(2)),
      ()=>crypto.subtle.timingSafeEqual(new Uint8Array(1),new Uint8Array(1)),
      ()=>new Crypto(),
      ()=>new SubtleCrypto(),
      ()=>crypto.getRandomValues(new DataView(new ArrayBuffer(4))),
      ()=>crypto.getRandomValues.call({},new Uint8Array(1)),
      ()=>crypto.subtle===crypto.subtle,
      ()=>crypto.subtle.digest('SHA-224',new Uint8Array()),
    ];
    for (const act of cases) await show(label(act), act);
  },
};
