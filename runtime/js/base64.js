// atob and btoa (HTML 8.3).
'use strict';
const { badArgument, unlengthen } = load('webidl');
const SCOPE = 'ServiceWorkerGlobalScope';

function atob(data) {
  if (arguments.length < 1) badArgument(SCOPE, 'atob', 1, 'string');
  return native.decode(`${data}`);
}

function btoa(data) {
  if (arguments.length < 1) badArgument(SCOPE, 'btoa', 1, 'String');
  return native.encode(`${data}`);
}

return { atob: unlengthen(atob), btoa: unlengthen(btoa) };
