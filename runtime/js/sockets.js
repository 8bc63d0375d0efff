// The module cloudflare:sockets. There are no sockets yet; what asks for one is told so.
'use strict';
const { Error, TypeError } = primordials;

function connect(address) {
  if (arguments.length < 1) {
    throw new TypeError("Failed to execute 'connect' on 'SocketsModule': parameter 1 is not of type 'SocketAddress or string'.");
  }
  if (load('rpc_fetch').outbound() === undefined) {
    throw new Error(
      'This worker is not permitted to access the internet via global functions like fetch(). It must use capabilities ' +
        "(such as bindings in 'env') to talk to the outside world.",
    );
  }
  throw new Error('connect() is not supported by loaderd yet: a Worker can reach others by fetch() and RPC only.');
}

return { module: { __proto__: null, connect } };
