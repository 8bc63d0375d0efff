import { label, show } from 'show';
export default {
  async test() {
    const cases = [
      ()=>new TextDecoder('foo'),
      ()=>new TextDecoder('latin1').encoding,
      ()=>new TextDecoder('utf-16').encoding,
      ()=>new TextDecoder('utf8',{fatal:true}).decode(new Uint8Array([0xff])),
      ()=>new TextDecoder().decode(5),
      ()=>new TextDecoder().decode('a'),
      ()=>new TextDecoder().decode(null),
      ()=>new TextDecoder().decode(undefined),
      ()=>new TextDecoder().decode(),
      ()=>new TextEncoder().encode().length,
      ()=>new TextEncoder().encode(null).length,
      ()=>JSON.stringify(new TextEncoder().encodeInto('héllo',new Uint8Array(2))),
      ()=>new TextEncoder().encodeInto('a',[]),
      ()=>new TextEncoder().encodeInto('a'),
      ()=>new TextDecoder('replacement'),
      ()=>new TextDecoder('utf-8',5),
      ()=>new TextDecoder('utf-8',null).encoding,
      ()=>new TextDecoder(' UTF-8 ').encoding,
      ()=>new TextDecoder('utf-16le',{fatal:true}).decode(new Uint8Array([0x00])),
      ()=>new TextDecoder('shift_jis').encoding,
      ()=>new TextDecoder('x-user-defined').encoding,
      ()=>new TextDecoder('gb18030').decode(new Uint8Array([0x81,0x30,0x81,0x30])),
    ];
    for (const act of cases) await show(label(act), act);
  },
};
