// What kinds of values cross, and what of them; what does not, in which words.
//// case: every kind of typed array
const out = [];
for (const name of ['Int8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float16Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array']) {
  const Kind = globalThis[name];
  const one = name.startsWith('Big') ? 1n : 1;
  const got = await env.ECHO.echo(Kind.of(one, one)).catch((error) => error);
  out.push([name, got instanceof Error ? `${got.name}: ${got.message}` : [got.constructor === Kind, got.byteLength, `${got}`]]);
}
return out;
//// => {"value":[["Int8Array",[true,2,"1,1"]],["Uint8ClampedArray",[true,2,"1,1"]],["Int16Array",[true,4,"1,1"]],["Uint16Array",[true,4,"1,1"]],["Int32Array",[true,8,"1,1"]],["Uint32Array",[true,8,"1,1"]],["Float16Array",[true,4,"1,1"]],["Float32Array",[true,8,"1,1"]],["Float64Array",[true,16,"1,1"]],["BigInt64Array",[true,16,"1,1"]],["BigUint64Array",[true,16,"1,1"]]]}

//// case: two views of one buffer share it
const buffer = new Uint8Array([1, 2, 3, 4]).buffer;
const { a, b } = await env.ECHO.echo({ a: new Uint8Array(buffer, 1, 2), b: new DataView(buffer, 2) });
return [a.buffer === b.buffer, a.buffer.byteLength, a.byteOffset, b.byteOffset, b.byteLength];
//// => {"value":[true,4,1,2,2]}

//// case: a view of nothing
const got = await env.ECHO.echo(new Uint8Array(0));
return [got.length, got.buffer.byteLength];
//// => {"value":[0,0]}

//// case: a resizable buffer
const buffer = new ArrayBuffer(2, { maxByteLength: 8 });
const got = await env.ECHO.echo(buffer);
return [got.resizable, got.byteLength, got.maxByteLength];
//// => {"value":[true,2,8]}

//// case: a view that follows a resizable buffer
const view = new Uint8Array(new ArrayBuffer(2, { maxByteLength: 8 }));
const got = await env.ECHO.echo(view);
got.buffer.resize(4);
return got.length;
//// => {"value":4}

//// case: a shared buffer
return await env.ECHO.echo(new SharedArrayBuffer(8));
//// differs: workerd sends it, and the other side fails to read it.
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"#<SharedArrayBuffer> could not be cloned.","code":25}}

//// case: a view of a shared buffer
return await env.ECHO.echo(new Uint8Array(new SharedArrayBuffer(8)));
//// differs: workerd sends it, and the other side fails to read it.
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"#<SharedArrayBuffer> could not be cloned.","code":25}}

//// case: an argument buffer stays the caller's
const bytes = new Uint8Array([1, 2]);
await env.ECHO.echo(bytes.buffer);
return [bytes.length, bytes.buffer.detached];
//// => {"value":[2,false]}

//// case: stubs in a Map and a Set
const got = await env.ECHO.echo(new Map([["f", () => 1], ["s", new Set([() => 2])]]));
const [inner] = got.get("s");
return [await got.get("f")(), await inner()];
//// => {"value":[1,2]}

//// case: a stub as the key of a Map
const got = await env.ECHO.echo(new Map([[() => 3, "v"]]));
const [[key, value]] = got;
return [await key(), value];
//// => {"value":[3,"v"]}

//// case: one stub in two places
const f = () => 1;
const got = await env.ECHO.echo([f, f]);
return [got[0] === got[1], await got[0](), await got[1]()];
//// => {"value":[true,1,1]}

//// case: a circle with a stub in it
const a = { f: () => 4 };
a.self = a;
const got = await env.ECHO.echo(a);
return [got.self === got, await got.self.f()];
//// => {"value":[true,4]}

//// case: a circle through a Map
const m = new Map();
m.set("m", m);
const got = await env.ECHO.echo(m);
return got.get("m") === got;
//// => {"value":true}

//// case: an array with a property
const a = [1];
a.extra = 2;
const got = await env.ECHO.echo(a);
return [got.length, got.extra];
//// => {"value":[1,2]}

//// case: a sparse array with a function
const a = [];
a[3] = () => 5;
const got = await env.ECHO.echo(a);
return [got.length, 0 in got, await got[3]()];
//// => {"value":[4,false,5]}

//// case: members that are symbols are left behind
const got = await env.ECHO.echo({ [Symbol("s")]: 1, a: 2 });
return [Object.getOwnPropertySymbols(got).filter((s) => s !== Symbol.dispose).length, got.a];
//// => {"value":[0,2]}

//// case: members that are not enumerable are left behind
return Object.keys(await env.ECHO.echo(Object.defineProperty({ a: 1 }, "b", { value: 2 })));
//// => {"value":["a"]}

//// case: a frozen object
const got = await env.ECHO.echo(Object.freeze({ a: 1 }));
return [Object.isFrozen(got), got.a];
//// => {"value":[false,1]}

//// case: a member named __proto__
const got = await env.ECHO.echo(JSON.parse('{"__proto__":{"a":1}}'));
return [Object.hasOwn(got, "__proto__"), got.a];
//// => {"value":[true,{"$":"undefined"}]}

//// case: a member named then
const got = await env.ECHO.call(() => 1);
return [got, await env.ECHO.echo([{ then: 1 }])];
//// => {"value":[1,[{"then":1}]]}

//// case: a function with members
const f = Object.assign((a) => a + 1, { n: 5, g: () => 6, o: { deep: [7] } });
const got = await env.ECHO.echo(f);
return [await got(1), await got.n, await got.g(), await got.o.deep];
//// => {"value":[2,5,6,[7]]}

//// case: members that every function has
const got = await env.ECHO.echo(function named(a, b) {});
const out = [];
for (const name of ["name", "length", "call", "prototype"]) {
  out.push(await settled(Promise.resolve().then(() => got[name])));
}
return out;
//// => {"value":[{"value":"named"},{"value":2},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"call\".","remote":true}},{"value":{}}]}

//// case: a class as an argument
return typeof (await env.ECHO.echo(class A { static s() { return 1; } }));
//// => {"value":"function"}

//// case: a getter with a function
const got = await env.ECHO.echo({ get f() { return () => 8; } });
return await got.f();
//// => {"value":8}

//// case: a getter that throws beside a function
return await env.ECHO.echo({ f() {}, get a() { throw new RangeError("from a getter"); } });
//// => {"error":{"$":"RangeError","name":"RangeError","message":"from a getter"}}

//// case: instances of classes are refused by name
const out = [];
class Own {}
class Sub extends Map {}
class List extends Array {}
const anonymous = new (class {})();
for (const value of [new Own(), new Sub(), new List(), anonymous, new URL("http://a.test/"), new URLSearchParams("a=1"), new FormData(), new TextEncoder(), new AbortController(), new File(["a"], "a.txt"), new Event("e"), new WeakSet(), (function* () {})(), Object.create({ a: 1 }), new Intl.NumberFormat("en"), Promise.resolve(1), crypto, Math, JSON]) {
  out.push(await env.ECHO.echo(value).then((got) => `${Object.prototype.toString.call(got)}`, (error) => `${error.name}: ${error.message}`));
}
return out;
//// => {"value":["DataCloneError: Could not serialize object of type \"Own\". This type does not support serialization.","[object Map]","[object Array]","DataCloneError: Could not serialize object of type \"Object\". This type does not support serialization.","DataCloneError: Could not serialize object of type \"URL\". This type does not support serialization.","DataCloneError: Could not serialize object of type \"URLSearchParams\". This type does not support serialization.","DataCloneError: Could not serialize object of type \"FormData\". This type does not support serialization.","DataCloneError: Could not serialize object of type \"TextEncoder\". This type does not support serialization.","DataCloneError: Could not serialize object of type \"AbortController\". This type does not support serialization.","DataCloneError: Could not serialize object of type \"File\". This type does not support serialization.","DataCloneError: Could not serialize object of type \"Event\". This type does not support serialization.","DataCloneError: #<WeakSet> could not be cloned.","DataCloneError: [object Generator] could not be cloned.","DataCloneError: Could not serialize object of type \"Object\". This type does not support serialization.","DataCloneError: #<NumberFormat> could not be cloned.","DataCloneError: #<Promise> could not be cloned.","DataCloneError: Could not serialize object of type \"Crypto\". This type does not support serialization.","[object Object]","[object Object]"]}

//// case: the same inside of an object
const out = [];
class Own {}
for (const value of [new Own(), new URL("http://a.test/"), new (class extends Array {})(), Symbol.iterator, new (class extends Date {})()]) {
  out.push(await env.ECHO.echo({ f: () => 1, value }).then((got) => `${Object.prototype.toString.call(got.value)}`, (error) => `${error.name}: ${error.message}`));
}
return out;
//// => {"value":["DataCloneError: Could not serialize object of type \"Own\". This type does not support serialization.","DataCloneError: Could not serialize object of type \"URL\". This type does not support serialization.","[object Array]","DataCloneError: Symbol(Symbol.iterator) could not be cloned.","[object Date]"]}

//// case: boxed values
const got = await env.ECHO.echo([Object(1n), Object(true), Object("s"), Object(2)]);
return got.map((value) => [typeof value, `${value}`]);
//// => {"value":[["object","1"],["object","true"],["object","s"],["object","2"]]}

//// case: a boxed symbol
return await env.ECHO.echo(Object(Symbol("s")));
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"[object Symbol] could not be cloned.","code":25}}

//// case: a RegExp with flags and a position
const re = /a(b)/dgimsuy;
re.lastIndex = 3;
const got = await env.ECHO.echo(re);
return [got.source, got.flags, got.lastIndex];
//// => {"value":["a(b)","dgimsuy",0]}

//// case: a RegExp in v mode
return (await env.ECHO.echo(/[a--b]/v)).flags;
//// => {"value":"v"}

//// case: big integers
return (await env.ECHO.echo([0n, -1n, 2n ** 64n, -(2n ** 130n)])).map((n) => `${n}`);
//// => {"value":["0","-1","18446744073709551616","-1361129467683753853853498429727072845824"]}

//// case: dates at the edges
return (await env.ECHO.echo([new Date(8.64e15), new Date(-8.64e15), new Date(0)])).map((d) => d.getTime());
//// => {"value":[8640000000000000,-8640000000000000,0]}

//// case: strings of one and two bytes
const got = await env.ECHO.echo(["\u00ff".repeat(3), "\u0100", "a\0b"]);
return got.map((s) => [s.length, s.charCodeAt(0)]);
//// => {"value":[[3,255],[1,256],[3,97]]}

//// case: an Error subclass
class Mine extends TypeError { constructor(m) { super(m); this.name = "Mine"; this.code = 7; } }
const got = await env.ECHO.echo(new Mine("m"));
return [got.name, got.message, got.code, got.constructor.name, got instanceof TypeError, got.stack === undefined];
//// => {"value":["Mine","m",7,"Error",false,false]}

//// case: an Error subclass without a name of its own
class Mine extends RangeError {}
const got = await env.ECHO.echo(new Mine("m"));
return [got.name, got.constructor.name, Object.prototype.toString.call(got)];
//// => {"value":["RangeError","RangeError","[object Error]"]}

//// case: an Error whose name is nobody's
const got = await env.ECHO.echo(Object.assign(new Error("m"), { name: "Odd" }));
return [got.name, Object.hasOwn(got, "name"), `${got}`];
//// => {"value":["Odd",true,"Odd: m"]}

//// case: what an Error has of its own
const got = await env.ECHO.echo(Object.assign(new Error("m", { cause: { c: 1 } }), { extra: [1], undef: undefined }));
return Object.getOwnPropertyNames(got).sort().map((name) => [name, Object.getOwnPropertyDescriptor(got, name).enumerable]);
//// => {"value":[["cause",true],["extra",true],["message",false],["stack",false],["undef",true]]}

//// case: causes behind causes
const got = await env.ECHO.echo(new Error("a", { cause: new TypeError("b", { cause: "c" }) }));
return [got.cause.name, got.cause.message, got.cause.cause];
//// => {"value":["TypeError","b","c"]}

//// case: an Error that causes itself
const error = new Error("a");
error.cause = error;
const got = await env.ECHO.echo(error);
return got.cause === got;
//// => {"error":{"$":"Error","name":"Error","message":"Unable to deserialize cloned data.","remote":true}}

//// case: an AggregateError and its errors
const got = await env.ECHO.echo(new AggregateError([new TypeError("a"), "b"], "m"));
return [got.name, got.message, got.constructor.name, got.errors?.map((e) => `${e}`), Object.getOwnPropertyDescriptor(got, "errors")?.enumerable];
//// => {"value":["AggregateError","m","AggregateError",["TypeError: a","b"],true]}

//// case: an AggregateError that is thrown
return await env.ECHO.call(() => { throw new AggregateError([new TypeError("a")], "m"); }).catch((e) => [e.name, e.constructor.name, e.errors?.map((x) => `${x}`), e.remote]);
//// => {"value":["AggregateError","AggregateError",["TypeError: a"],true]}

//// case: a SuppressedError
if (typeof SuppressedError === "undefined") return "none";
const got = await env.ECHO.echo(new SuppressedError(new Error("a"), new Error("b"), "m"));
return [got.name, got.message, `${got.error}`, `${got.suppressed}`];
//// => {"value":["SuppressedError","m","Error: a","Error: b"]}

//// case: DOMExceptions by name
const out = [];
for (const name of ["AbortError", "DataCloneError", "NotFoundError", "Odd"]) {
  const got = await env.ECHO.echo(new DOMException("m", name));
  out.push([got.constructor.name, got.name, got.code, got.message]);
}
return out;
//// => {"value":[["DOMException","AbortError",20,"m"],["DOMException","DataCloneError",25,"m"],["DOMException","NotFoundError",8,"m"],["DOMException","Odd",0,"m"]]}

//// case: a DOMException with members
const got = await env.ECHO.echo(Object.assign(new DOMException("m", "AbortError"), { extra: 1 }));
return [got.extra, got.name];
//// => {"value":[{"$":"undefined"},"AbortError"]}

//// case: a DOMException that is thrown
return await env.ECHO.call(() => { throw new DOMException("m", "AbortError"); }).catch((e) => [e.constructor.name, e.name, e.code, e.message, e.remote]);
//// => {"value":["DOMException","AbortError",20,"m",true]}

//// case: an Error with a stub in it
return await env.ECHO.echo(Object.assign(new Error("m"), { f: () => 1 })).then((e) => typeof e.f, (e) => `${e.name}: ${e.message}`);
//// => {"value":"function"}

//// case: a thrown Error with what cannot be cloned
return await env.ECHO.call(() => { throw Object.assign(new Error("m"), { f: () => 1 }); }).catch((e) => [e.name, e.message, typeof e.f, e.remote]);
//// => {"value":["Error","m","undefined",true]}

//// case: a thrown instance of a class
class Own { a = 1; }
return await env.ECHO.call(() => { throw new Own(); }).catch((e) => [e.constructor.name, e.a, e.message, e.remote]);
//// => {"value":["Object",1,{"$":"undefined"},true]}

//// case: a thrown array
return await env.ECHO.call(() => { throw [1, 2]; }).catch((e) => [Array.isArray(e), e.length, e.remote]);
//// => {"value":[true,2,true]}

//// case: a thrown number
return await env.ECHO.call(() => { throw 7; }).catch((e) => [e.name, e.message, e.remote]);
//// => {"value":["Error","7",true]}

//// case: a thrown symbol
return await env.ECHO.call(() => { throw Symbol("s"); }).catch((e) => [e.name, e.message, e.remote]);
//// => {"value":["Error","Symbol(s)",true]}

//// case: an Error whose message is a getter
const error = new Error();
Object.defineProperty(error, "message", { get: () => "got" });
return (await env.ECHO.echo(error)).message;
//// => {"value":"got"}

//// case: an Error whose getter throws
const error = new Error("m");
Object.defineProperty(error, "bad", { enumerable: true, get() { throw new RangeError("g"); } });
return await env.ECHO.echo(error);
//// => {"error":{"$":"RangeError","name":"RangeError","message":"g"}}

//// case: blobs and files
const got = await env.ECHO.echo(new Blob(["ab"], { type: "a/b" }));
return [got.constructor.name, got.size, got.type, await got.text()];
//// => {"value":["Blob",2,"a/b","ab"]}
