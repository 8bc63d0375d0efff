// ctx.mapVirtualHost: addresses that stand for services.
//// case: a host for a service
const host = ctx.mapVirtualHost(env.ECHO, 5432);
return [/^[0-9a-f]{32}\.workers\.alt:5432$/.test(host), ctx.mapVirtualHost(env.ECHO, 1) === host, ctx.mapVirtualHost(env.SELF, 5432) === host];
//// => {"value":[true,true,false]}

//// case: connecting to it
const child = methods(env, "async connect(socket) { const w = socket.writable.getWriter(); await w.write(new TextEncoder().encode('hi')); await w.close(); }");
const { connect } = await import("cloudflare:sockets");
const host = ctx.mapVirtualHost(child, 80);
const read = async (address) => {
  let text = "";
  for await (const chunk of connect(address).readable) text += new TextDecoder().decode(chunk);
  return text;
};
const [hostname, port] = host.split(":");
return [await read(host), await read({ hostname, port: Number(port) })];
//// => {"value":["hi","hi"]}

//// case: what is no service
const out = [];
for (const args of [[], [env.ECHO], [1, 2], [{}, 2], [new RpcStub({}), 1], [env.ECHO, "x"], [env.ECHO, -1], [env.ECHO, 65536]]) {
  try {
    out.push(typeof ctx.mapVirtualHost(...args));
  } catch (error) {
    out.push(`${error.name}: ${error.message}`);
  }
}
return out;
//// => {"value":["TypeError: Failed to execute 'mapVirtualHost' on 'ExecutionContext': parameter 1 is not of type 'Fetcher'.","TypeError: Failed to execute 'mapVirtualHost' on 'ExecutionContext': parameter 2 is not of type 'unsigned short integer'.","TypeError: Failed to execute 'mapVirtualHost' on 'ExecutionContext': parameter 1 is not of type 'Fetcher'.","TypeError: Failed to execute 'mapVirtualHost' on 'ExecutionContext': parameter 1 is not of type 'Fetcher'.","TypeError: Failed to execute 'mapVirtualHost' on 'ExecutionContext': parameter 1 is not of type 'Fetcher'.","TypeError: The value cannot be converted because it is not an integer.","TypeError: The value cannot be converted because it is negative and this API expects a positive number.","TypeError: Value out of range. Must be less than or equal to 65535."]}

//// case: exports and objects have hosts too
return [typeof ctx.mapVirtualHost(ctx.exports.Echo, 1), typeof ctx.mapVirtualHost(ctx.exports.Counter.getByName("h"), 1)];
//// => {"value":["string","string"]}
