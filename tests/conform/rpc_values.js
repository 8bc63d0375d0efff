// Values on their way to an entrypoint and back.
//// case: undefined as an argument and a result
return await env.ECHO.echo(undefined);
//// => {"value":{"$":"undefined"}}

//// case: null as an argument and a result
return await env.ECHO.echo(null);
//// => {"value":null}

//// case: true as an argument and a result
return await env.ECHO.echo(true);
//// => {"value":true}

//// case: a number as an argument and a result
return await env.ECHO.echo(1.5);
//// => {"value":1.5}

//// case: minus zero as an argument and a result
return await env.ECHO.echo(-0);
//// => {"value":{"$":"number","value":"-0"}}

//// case: NaN as an argument and a result
return await env.ECHO.echo(NaN);
//// => {"value":{"$":"number","value":"NaN"}}

//// case: infinity as an argument and a result
return await env.ECHO.echo(-Infinity);
//// => {"value":{"$":"number","value":"-Infinity"}}

//// case: a bigint as an argument and a result
return await env.ECHO.echo(123456789012345678901234567890n);
//// => {"value":{"$":"bigint","value":"123456789012345678901234567890"}}

//// case: a string as an argument and a result
return await env.ECHO.echo("text");
//// => {"value":"text"}

//// case: an empty string as an argument and a result
return await env.ECHO.echo("");
//// => {"value":""}

//// case: a lone surrogate as an argument and a result
return await env.ECHO.echo("\ud800");
//// => {"value":{"$":"utf16","value":[55296]}}

//// case: an emoji as an argument and a result
return await env.ECHO.echo("\u{1f600}");
//// => {"value":"😀"}

//// case: an array as an argument and a result
return await env.ECHO.echo([1, [2, [3]]]);
//// => {"value":[1,[2,[3]]]}

//// case: a hole in an array as an argument and a result
return await env.ECHO.echo([1, , 3]);
//// => {"value":[1,{"$":"undefined"},3]}

//// case: an object as an argument and a result
return await env.ECHO.echo(({ a: 1, b: { c: null } }));
//// => {"value":{"a":1,"b":{"c":null}}}

//// case: an object without prototype as an argument and a result
return await env.ECHO.echo(Object.assign(Object.create(null), { a: 1 }));
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"Object\". This type does not support serialization.","code":25}}

//// case: a Map as an argument and a result
return await env.ECHO.echo(new Map([["a", 1], [{ k: 1 }, new Set([2])]]));
//// => {"value":{"$":"Map","value":[["a",1],[{"k":1},{"$":"Set","value":[2]}]]}}

//// case: a Set as an argument and a result
return await env.ECHO.echo(new Set([1, "a", { b: 2 }]));
//// => {"value":{"$":"Set","value":[1,"a",{"b":2}]}}

//// case: a Date as an argument and a result
return await env.ECHO.echo(new Date(86400000));
//// => {"value":{"$":"Date","value":86400000}}

//// case: an invalid Date as an argument and a result
return await env.ECHO.echo(new Date(NaN));
//// => {"value":{"$":"Date","value":null}}

//// case: a RegExp as an argument and a result
return await env.ECHO.echo(/a.c/gi);
//// => {"value":{"$":"RegExp","value":"/a.c/gi"}}

//// case: an ArrayBuffer as an argument and a result
return await env.ECHO.echo(new Uint8Array([1, 2, 3]).buffer);
//// => {"value":{"$":"ArrayBuffer","value":[1,2,3]}}

//// case: a Uint8Array as an argument and a result
return await env.ECHO.echo(new Uint8Array([1, 2, 3]));
//// => {"value":{"$":"Uint8Array","value":[1,2,3]}}

//// case: a view into a buffer as an argument and a result
return await env.ECHO.echo(new Uint8Array([1, 2, 3, 4]).subarray(1, 3));
//// => {"value":{"$":"Uint8Array","value":[2,3]}}

//// case: a Float64Array as an argument and a result
return await env.ECHO.echo(new Float64Array([0.5, -1]));
//// => {"value":{"$":"Float64Array","value":[0,0,0,0,0,0,224,63,0,0,0,0,0,0,240,191]}}

//// case: a BigInt64Array as an argument and a result
return await env.ECHO.echo(new BigInt64Array([-1n]));
//// => {"value":{"$":"BigInt64Array","value":[255,255,255,255,255,255,255,255]}}

//// case: a DataView as an argument and a result
return await env.ECHO.echo(new DataView(new Uint8Array([9, 8]).buffer));
//// => {"value":{"$":"DataView","value":[9,8]}}

//// case: an Error as an argument and a result
return await env.ECHO.echo(new Error("e"));
//// => {"value":{"$":"Error","name":"Error","message":"e"}}

//// case: a TypeError as an argument and a result
return await env.ECHO.echo(new TypeError("t"));
//// => {"value":{"$":"TypeError","name":"TypeError","message":"t"}}

//// case: an Error with a cause as an argument and a result
return await env.ECHO.echo(new Error("e", { cause: new RangeError("r") }));
//// => {"value":{"$":"Error","name":"Error","message":"e","cause":{"$":"RangeError","name":"RangeError","message":"r"}}}

//// case: an Error with properties as an argument and a result
return await env.ECHO.echo(Object.assign(new Error("e"), { code: 5 }));
//// => {"value":{"$":"Error","name":"Error","message":"e","code":5}}

//// case: an AggregateError as an argument and a result
return await env.ECHO.echo(new AggregateError([new Error("a")], "all"));
//// => {"value":{"$":"AggregateError","name":"AggregateError","message":"all","errors":[{"$":"Error","name":"Error","message":"a"}]}}

//// case: a boxed number as an argument and a result
return await env.ECHO.echo(Object(5));
//// => {"value":{"$":"Number"}}

//// case: a boxed string as an argument and a result
return await env.ECHO.echo(Object("s"));
//// => {"value":{"$":"String"}}

//// case: an object with an undefined member as an argument and a result
return await env.ECHO.echo(({ a: undefined }));
//// => {"value":{"a":{"$":"undefined"}}}

//// case: keys in their order as an argument and a result
return await env.ECHO.echo(({ z: 1, a: 2, 5: 3 }));
//// => {"value":{"5":3,"z":1,"a":2}}

//// case: a circle
const a = { n: 1 };
a.self = a;
const back = await env.ECHO.echo(a);
return [back.n, back.self === back];
//// => {"value":[1,true]}

//// case: one object twice stays one
const a = {};
const [x, y] = await env.ECHO.echo([a, a]);
return x === y;
//// => {"value":true}

//// case: several arguments
return await env.ECHO.echo(1, 'a', null);
//// => {"value":[1,"a",null]}

//// case: no argument
return await env.ECHO.echo();
//// => {"value":[]}

//// case: a symbol
return await env.ECHO.echo(Symbol('s'));
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Symbol(s) could not be cloned.","code":25}}

//// case: a symbol inside
return await env.ECHO.echo({ s: Symbol('s') });
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Symbol(s) could not be cloned.","code":25}}

//// case: a class instance
return await env.ECHO.echo(new (class Point { x = 1 })());
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"Point\". This type does not support serialization.","code":25}}

//// case: a WeakMap
return await env.ECHO.echo(new WeakMap());
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"#<WeakMap> could not be cloned.","code":25}}

//// case: a Promise inside
return await env.ECHO.echo({ p: Promise.resolve(1) });
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"#<Promise> could not be cloned.","code":25}}

//// case: a getter is read
return await env.ECHO.echo({ get a() { return 1; } });
//// => {"value":{"a":1}}

//// case: a getter that throws
return await env.ECHO.echo({ get a() { throw new TypeError('got'); } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"got"}}

//// case: a Proxy
return await env.ECHO.echo(new Proxy({}, {}));
//// => {"value":{"$":"function"}}

//// case: a detached buffer
const b = new ArrayBuffer(4);
structuredClone(b, { transfer: [b] });
return await env.ECHO.echo(b);
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"An ArrayBuffer is detached and could not be cloned.","code":25}}

//// case: a large string
return (await env.ECHO.echo('x'.repeat(1 << 20))).length;
//// => {"value":1048576}

//// case: more than the platform carries
return (await env.ECHO.echo('x'.repeat(33 << 20))).length;
//// => {"error":{"$":"Error","name":"Error","message":"Serialized RPC arguments or return values are limited to 32MiB, but the size of this value was: 34603020 bytes."}}

//// case: a Headers object
return [...(await env.ECHO.echo(new Headers({ a: '1' })))];
//// => {"value":[["a","1"]]}

//// case: a Request
const r = await env.ECHO.echo(new Request('http://a/b', { method: 'POST', body: 'x' }));
return [r.method, r.url, await r.text()];
//// => {"value":["POST","http://a/b","x"]}

//// case: a Response
const r = await env.ECHO.echo(new Response('body', { status: 201, headers: { a: '1' } }));
return [r.status, r.headers.get('a'), await r.text()];
//// => {"value":[201,"1","body"]}

//// case: a stream
const r = await env.ECHO.echo(new Response('stream').body);
return await new Response(r).text();
//// => {"value":"stream"}
