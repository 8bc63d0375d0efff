// Functions, targets, stubs, property paths, errors.
//// case: a function is called back
return await env.ECHO.call((a, b) => a + b, 1, 2);
//// => {"value":3}

//// case: a function that throws
return await env.ECHO.call(() => { throw new RangeError('from the caller'); });
//// => {"error":{"$":"RangeError","name":"RangeError","message":"from the caller","remote":true}}

//// case: an asynchronous function
return await env.ECHO.call(async () => { await null; return 'later'; });
//// => {"value":"later"}

//// case: a function comes back as a stub
const f = await env.ECHO.echo((x) => x * 2);
return [typeof f, await f(4)];
//// => {"value":["function",8]}

//// case: a target comes back as a stub
class T extends RpcTarget { twice(x) { return x * 2; } get name() { return 'n'; } }
const t = await env.ECHO.echo(new T());
return [await t.twice(4), await t.name];
//// => {"value":[8,"n"]}

//// case: own properties of a target are hidden
class T extends RpcTarget { own = 1; }
const t = await env.ECHO.echo(new T());
return await t.own;
//// => {"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"own\".","remote":true}}

//// case: private members of a target
class T extends RpcTarget { #p = 1; get p() { return this.#p; } }
const t = await env.ECHO.echo(new T());
return await t.p;
//// => {"value":1}

//// case: a member that is not there
return await methods(env, '').gone();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"gone\".","remote":true}}

//// case: a property that is not there
return await methods(env, '').gone;
//// => {"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"gone\".","remote":true}}

//// case: a property
return await methods(env, 'get p() { return 5; }').p;
//// => {"value":5}

//// case: a method of a property
return await methods(env, 'get p() { return { q: { r() { return 5; } } }; }').p.q.r();
//// => {"value":5}

//// case: a property of a result, without waiting
return await methods(env, 'm() { return { a: { b: 7 } }; }').m().a.b;
//// => {"value":7}

//// case: a method of a result, without waiting
return await methods(env, 'm() { return { f: (x) => x + 1 }; }').m().f(1);
//// => {"value":2}

//// case: a result that is a target, called without waiting
return await methods(env, 'm() { return new (class extends RpcTarget { f(x) { return x + 1; } })(); }').m().f(1);
//// => {"value":2}

//// case: a call on a number
return await methods(env, 'get p() { return 5; }').p();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"\"p\" is not a function.","remote":true}}

//// case: constructor is reserved
return await methods(env, '').constructor();
//// differs: loaderd shows the class of stubs, which cannot be called either
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Class constructor ServiceStub cannot be invoked without 'new'"}}

//// case: dup is reserved on an entrypoint
return typeof methods(env, '').dup;
//// => {"value":"function"}

//// case: then is not a method
return typeof methods(env, '').then;
//// => {"value":"undefined"}

//// case: an own property of an entrypoint is hidden
return await methods(env, 'constructor(c, e) { super(c, e); this.own = 1; }').own;
//// => {"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"own\".","remote":true}}

//// case: a plain handler object
return await env.LOADER.load(worker('export default { async m(a) { return [a, arguments.length]; } }')).getEntrypoint().m(1);
//// => {"value":[1,3]}

//// case: a plain handler object with two arguments
return await env.LOADER.load(worker('export default { async m(a) { return a; } }')).getEntrypoint().m(1, 2);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Attempted to call RPC function \"m\" with the wrong number of arguments. When calling a top-level handler function that is not declared as part of a class, you must always send exactly one argument. In order to support variable numbers of arguments, the server must use class-based syntax (extending WorkerEntrypoint) instead.","remote":true}}

//// case: a thrown Error
return await methods(env, "m() { throw new Error('plain'); }").m();
//// => {"error":{"$":"Error","name":"Error","message":"plain","remote":true}}

//// case: a thrown TypeError
return await methods(env, "m() { throw new TypeError('typed'); }").m();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"typed","remote":true}}

//// case: a thrown error with properties
return await methods(env, "m() { throw Object.assign(new Error('e'), { code: 7 }); }").m();
//// => {"error":{"$":"Error","name":"Error","message":"e","code":7,"remote":true}}

//// case: a thrown error with a cause
return await methods(env, "m() { throw new Error('e', { cause: new TypeError('c') }); }").m();
//// => {"error":{"$":"Error","name":"Error","message":"e","cause":{"$":"TypeError","name":"TypeError","message":"c"},"remote":true}}

//// case: a thrown string
return await methods(env, "m() { throw 'text'; }").m();
//// => {"error":{"$":"Error","name":"Error","message":"text","remote":true}}

//// case: a thrown object
return await methods(env, "m() { throw { a: 1 }; }").m();
//// => {"error":{"a":1,"remote":true}}

//// case: a thrown null
return await methods(env, 'm() { throw null; }').m();
//// => {"error":{"$":"Error","name":"Error","message":"null","remote":true}}

//// case: a thrown DOMException
return await methods(env, "m() { throw new DOMException('d', 'AbortError'); }").m();
//// => {"error":{"$":"DOMException","name":"AbortError","message":"d","code":20,"remote":true}}

//// case: a custom error class
return await methods(env, "m() { throw new (class Custom extends Error { name = 'Custom' })('c'); }").m();
//// => {"error":{"$":"Error","name":"Custom","message":"c","remote":true}}

//// case: a rejected promise
return await methods(env, "async m() { await null; throw new RangeError('r'); }").m();
//// => {"error":{"$":"RangeError","name":"RangeError","message":"r","remote":true}}

//// case: a result that cannot be serialized
return await methods(env, 'm() { return new WeakMap(); }').m();
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"#<WeakMap> could not be cloned.","code":25,"remote":true}}

//// case: a result with a symbol
return await methods(env, "m() { return Symbol('s'); }").m();
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Symbol(s) could not be cloned.","code":25,"remote":true}}

//// case: calls are served in order
const e = methods(env, 'constructor(c, v) { super(c, v); } m(x) { return x; }');
return await Promise.all([1, 2, 3, 4, 5].map((x) => e.m(x)));
//// => {"value":[1,2,3,4,5]}

//// case: a callee calls its caller while it waits
return await methods(env, 'async m(f) { return (await f(1)) + (await f(2)); }').m((x) => x * 10);
//// => {"value":30}

//// case: a stub given to a third party
const a = methods(env, 'm() { return new (class extends RpcTarget { n() { return 3; } })(); }');
const b = methods(env, 'async m(t) { return await t.n(); }');
return await b.m(await a.m());
//// => {"value":3}

//// case: a stub of one's own target
const s = new RpcStub(new (class extends RpcTarget { n() { return 3; } })());
return await s.n();
//// => {"value":3}

//// case: a stub made of a plain object
return new RpcStub({});
//// => {"value":{"$":"function"}}

//// case: a disposed stub
const f = await env.ECHO.echo(() => 1);
f[Symbol.dispose]();
return await f();
//// => {"error":{"$":"Error","name":"Error","message":"RPC stub used after being disposed."}}

//// case: a duplicate outlives the original
const f = await env.ECHO.echo(() => 1);
const g = f.dup();
f[Symbol.dispose]();
return await g();
//// => {"value":1}

//// case: the error name survives
return await settled(env.ECHO.fail('SyntaxError', 's'));
//// => {"value":{"error":{"$":"SyntaxError","name":"SyntaxError","message":"s","extra":1,"remote":true}}}

//// case: a service binding as an argument
return await methods(env, 'async m(e) { return await e.echo(5); }').m(env.ECHO);
//// => {"value":5}
