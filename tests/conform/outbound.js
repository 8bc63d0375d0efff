// Where a loaded Worker's fetch() goes, and fetch events.
//// case: nowhere
return await env.LOADER.load(worker(`export default { async m(u) { const r = await fetch(u ?? 'http://example.com/p', { method: 'POST', body: 'b' }); return await r.text(); } }`, { globalOutbound: null })).getEntrypoint().m(undefined);
//// => {"error":{"$":"Error","name":"Error","message":"This worker is not permitted to access the internet via global functions like fetch(). It must use capabilities (such as bindings in 'env') to talk to the outside world.","remote":true}}

//// case: to a loopback entrypoint
return await env.LOADER.load(worker(`export default { async m(u) { const r = await fetch(u ?? 'http://example.com/p', { method: 'POST', body: 'b' }); return await r.text(); } }`, { globalOutbound: ctx.exports.Outbound({ props: { p: 1 } }) })).getEntrypoint().m(undefined);
//// => {"value":"POST http://example.com/p b {\"p\":1}"}

//// case: to a service
return await env.LOADER.load(worker(`export default { async m(u) { const r = await fetch(u ?? 'http://example.com/p', { method: 'POST', body: 'b' }); return await r.text(); } }`, { globalOutbound: env.SELF })).getEntrypoint().m(undefined);
//// => {"value":"parent http://example.com/p"}

//// case: to a string
return await env.LOADER.load(worker(`export default { async m(u) { const r = await fetch(u ?? 'http://example.com/p', { method: 'POST', body: 'b' }); return await r.text(); } }`, { globalOutbound: 'x' })).getEntrypoint().m();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'globalOutbound' field on 'WorkerCode': the provided value is not of type 'Fetcher'."}}

//// case: a URL that is none
return await env.LOADER.load(worker(`export default { async m(u) { const r = await fetch(u ?? 'http://example.com/p', { method: 'POST', body: 'b' }); return await r.text(); } }`, { globalOutbound: null })).getEntrypoint().m('nonsense');
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Invalid URL: nonsense","remote":true}}

//// case: connect nowhere
return await methods(env, "async m() { const { connect } = await import('cloudflare:sockets'); const s = connect('example.com:80'); return await s.opened; }", { globalOutbound: null }).m();
//// => {"error":{"$":"Error","name":"Error","message":"This worker is not permitted to access the internet via global functions like fetch(). It must use capabilities (such as bindings in 'env') to talk to the outside world.","remote":true}}

//// case: a fetch event
const r = await env.LOADER.load(worker("export default { fetch(r) { return new Response(r.method + ' ' + r.url, { status: 202 }); } }")).getEntrypoint().fetch('http://a/b');
return [r.status, await r.text()];
//// => {"value":[202,"GET http://a/b"]}

//// case: a fetch event with a body
const r = await env.LOADER.load(worker('export default { async fetch(r) { return new Response(await r.text()); } }')).getEntrypoint().fetch('http://a/', { method: 'PUT', body: 'up' });
return await r.text();
//// => {"value":"up"}

//// case: a fetch handler in a class
const r = await methods(env, "fetch(r) { return new Response('class'); }").fetch('http://a/');
return await r.text();
//// => {"value":"class"}

//// case: a fetch handler that throws
return await env.LOADER.load(worker("export default { fetch() { throw new TypeError('no'); } }")).getEntrypoint().fetch('http://a/');
//// => {"error":{"$":"TypeError","name":"TypeError","message":"no","remote":true}}

//// case: a fetch handler that returns a string
return await env.LOADER.load(worker("export default { fetch() { return 'text'; } }")).getEntrypoint().fetch('http://a/');
//// differs: loaderd waits for the value before it judges it
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for Promise: the Promise did not resolve to 'Response'.","remote":true}}

//// case: no fetch handler
return await env.LOADER.load(worker('export default {}')).getEntrypoint().fetch('http://a/');
//// => {"error":{"$":"Error","name":"Error","message":"Handler does not export a fetch() function.","remote":true}}

//// case: no fetch method in a class
return await methods(env, '').fetch('http://a/');
//// => {"error":{"$":"Error","name":"Error","message":"Handler does not export a fetch() function.","remote":true}}

//// case: headers both ways
const r = await env.LOADER.load(worker("export default { fetch(r) { return new Response(null, { headers: { b: r.headers.get('a') } }); } }")).getEntrypoint().fetch('http://a/', { headers: { a: '1' } });
return r.headers.get('b');
//// => {"value":"1"}

//// case: a streamed answer
const r = await env.LOADER.load(worker("export default { fetch() { const t = new TransformStream(); const w = t.writable.getWriter(); (async () => { const e = new TextEncoder(); for (const p of ['a', 'b', 'c']) await w.write(e.encode(p)); await w.close(); })(); return new Response(t.readable); } }")).getEntrypoint().fetch('http://a/');
return await r.text();
//// => {"value":"abc"}

//// case: a service binding
return await (await env.SELF.fetch('http://self/')).text();
//// => {"value":"parent http://self/"}

//// case: a redirect is followed or not
const w = env.LOADER.load(worker("export default { fetch(r) { return r.url.endsWith('/') ? Response.redirect('http://a/next', 302) : new Response('arrived'); } }")).getEntrypoint();
const manual = await w.fetch('http://a/', { redirect: 'manual' });
return [manual.status, manual.headers.get('location')];
//// => {"value":[302,"http://a/next"]}
