import { Buffer, constants, isAscii, isUtf8, transcode } from 'node:buffer';
import bare from 'buffer';

const CASES = {
  strings: () => ['h\u00e9llo \u{1F600}', '\ud800x'].map((text) => Buffer.from(text).toString('hex')),
  encodings: () =>
    ['utf8', 'ucs2', 'utf16le', 'latin1', 'binary', 'ascii', 'base64', 'base64url', 'hex', 'UTF-8', 'Hex'].map((name) => [
      name,
      Buffer.from('fb\u00ff+/==', name).toString('hex'),
      Buffer.from([0xfb, 0xff, 0x61, 0xe9, 0x80]).toString(name),
    ]),
  unknown: () => Buffer.from('x', 'nope'),
  unknownText: () => Buffer.from('x').toString('nope'),
  base64: () => ['YW Jj', 'YWJj====', 'YW-_', 'Y', 'YQ', 'YW$Jj'].map((text) => Buffer.from(text, 'base64').toString('hex')),
  hex: () => ['0g', 'abc', 'zz', 'AbCd'].map((text) => Buffer.from(text, 'hex').length),
  arrays: () => Buffer.from([1, 256, -1, 3.7, 'x', '12']),
  objects: () => [Buffer.from({ length: 2, 0: 7 }), Buffer.from({ type: 'Buffer', data: [1, 2] }), Buffer.from(new String('a'))],
  views: () => {
    const buffer = new ArrayBuffer(8);
    return [Buffer.from(buffer, 2, 3).byteOffset, Buffer.from(buffer).buffer === buffer, Buffer.from(new Uint16Array([1, 257]))];
  },
  outside: () => Buffer.from(new ArrayBuffer(8), 9),
  outsideLength: () => Buffer.from(new ArrayBuffer(8), 4, 5),
  nothing: () => Buffer.from(null),
  number: () => Buffer.from(5),
  old: () => [Buffer(3), new Buffer('abc'), new Buffer([1])],
  alloc: () => [Buffer.alloc(3), Buffer.alloc(5, 'ab'), Buffer.alloc(3, 1), Buffer.alloc(4, 'YWI=', 'base64'), Buffer.allocUnsafe(2)],
  allocText: () => Buffer.alloc('5'),
  allocNegative: () => Buffer.alloc(-1).length,
  concat: () => [Buffer.concat([Buffer.from('ab'), new Uint8Array([1])]), Buffer.concat([Buffer.from('abc')], 5), Buffer.concat([Buffer.from('abc')], 2)],
  lengths: () => [Buffer.byteLength('\u20ac'), Buffer.byteLength('YWJj', 'base64'), Buffer.byteLength('abc', 'hex'), Buffer.byteLength('ab', 'ucs2'), Buffer.byteLength(new ArrayBuffer(3))],
  compare: () => [Buffer.compare(Buffer.from('a'), Buffer.from('b')), Buffer.from('abc').compare(Buffer.from('xbcx'), 1, 3, 1, 3), Buffer.from('a').equals(new Uint8Array([97]))],
  isBuffer: () => [Buffer.isBuffer(Buffer.from('')), Buffer.isBuffer(new Uint8Array()), Buffer.isEncoding('utf-8'), Buffer.isEncoding('x')],
  indexOf: () => {
    const buffer = Buffer.from('this is a buffer');
    return [
      buffer.indexOf('is'), buffer.indexOf('is', 3), buffer.lastIndexOf('is'), buffer.lastIndexOf('is', 4), buffer.indexOf(97),
      buffer.indexOf('x'), buffer.indexOf(''), buffer.indexOf('', 99), buffer.includes('buf'), buffer.indexOf('is', -4), buffer.lastIndexOf('f', -3),
      Buffer.from('abcd', 'ucs2').indexOf('c', 0, 'ucs2'), buffer.indexOf(Buffer.from('a')), buffer.indexOf(99.9), buffer.lastIndexOf('this', undefined),
    ];
  },
  indexOfBad: () => Buffer.from('a').indexOf({}),
  write: () => {
    const buffer = Buffer.alloc(8);
    return [buffer.write('\u20ac\u20ac\u20ac'), buffer, buffer.write('ff', 6, 'hex'), buffer.write('abc', 7), buffer, buffer.write('xyz', 1, 2), buffer];
  },
  writeOutside: () => Buffer.alloc(2).write('a', 3),
  fill: () => [Buffer.alloc(7).fill('abc'), Buffer.alloc(4).fill(0x101), Buffer.alloc(4).fill('a', 1, 3), Buffer.alloc(4).fill(Buffer.from('xy')), Buffer.alloc(3).fill('')],
  copy: () => {
    const target = Buffer.alloc(4);
    return [Buffer.from('abcdef').copy(target, 1, 2), target, Buffer.from('ab').copy(target, 9)];
  },
  slice: () => {
    const buffer = Buffer.from('abcdef');
    const part = buffer.slice(1, -1);
    part[0] = 120;
    return [part, buffer.subarray(2), buffer.toString(), part instanceof Buffer, buffer.toString('utf8', 1, 3), buffer.toJSON().data.length];
  },
  swap: () => [Buffer.from([1, 2, 3, 4]).swap16(), Buffer.from([1, 2, 3, 4]).swap32()],
  swapBad: () => Buffer.from([1]).swap16(),
  reads: () => {
    const buffer = Buffer.from([0xff, 0x81, 0x02, 0x83, 0x04, 0x85, 0x06, 0x87]);
    return [
      buffer.readUInt8(1), buffer.readInt8(1), buffer.readUInt16LE(0), buffer.readInt16BE(0), buffer.readUInt32BE(0), buffer.readInt32LE(0),
      buffer.readUIntBE(0, 6), buffer.readIntLE(1, 5), buffer.readBigUInt64LE(0), buffer.readBigInt64BE(0), buffer.readFloatBE(2), buffer.readDoubleLE(0),
      buffer.readUint16BE(6),
    ];
  },
  readOutside: () => Buffer.alloc(2).readUInt32LE(0),
  readFraction: () => Buffer.alloc(8).readUInt8(1.5),
  readFar: () => Buffer.alloc(8).readUInt16LE(7),
  readText: () => Buffer.alloc(8).readUInt16LE('1'),
  writes: () => {
    const buffer = Buffer.alloc(12);
    return [
      buffer.writeUInt8(255, 0), buffer.writeInt16BE(-2, 1), buffer.writeUInt32LE(0xdeadbeef, 3), buffer.writeIntBE(-5, 7, 3), buffer,
      buffer.writeDoubleBE(-1.5, 0), buffer.writeFloatLE(0.1, 8), buffer, buffer.writeBigInt64LE(-3n, 1), buffer,
    ];
  },
  writeLarge: () => Buffer.alloc(4).writeUInt8(256, 0),
  writeLarge32: () => Buffer.alloc(4).writeInt32LE(2 ** 31, 0),
  writeLarge48: () => Buffer.alloc(6).writeUIntBE(2 ** 48, 0, 6),
  writeLarge64: () => Buffer.alloc(8).writeBigUInt64BE(2n ** 64n),
  questions: () => [isUtf8(Buffer.from([0xc3, 0xa9])), isUtf8(Buffer.from([0xc3])), isAscii(Buffer.from('a')), isAscii(Buffer.from('\u00e9'))],
  transcode: () => [transcode(Buffer.from('\u20ac'), 'utf8', 'ascii'), transcode(Buffer.from('\u00e9'), 'utf8', 'ucs2')],
  constants: () => [constants, Buffer.poolSize, bare.Buffer === Buffer, Buffer.name, Buffer.from.length],
  extra: () => Object.assign(Buffer.from('ab'), { x: 1 }),
  long: () => Buffer.alloc(60, 1),
  empty: () => [Buffer.alloc(0), { nested: { deeper: { buffer: Buffer.from('a') } } }],
};

export default {
  async test() {
    for (const [name, run] of Object.entries(CASES)) {
      try {
        console.log(name, run());
      } catch (error) {
        console.log(name, 'throws', error.name, error.code, error.message);
      }
    }
  },
};
