// structuredClone (HTML 2.7.10).
'use strict';
const { badArgument, badField, isDictionary, unlengthen } = load('webidl');
const SCOPE = 'ServiceWorkerGlobalScope';

function structuredClone(value, options) {
  if (arguments.length < 1) badArgument(SCOPE, 'structuredClone', 1, 'Value');
  if (!isDictionary(options)) badArgument(SCOPE, 'structuredClone', 2, 'StructuredCloneOptions');
  const transfer = options?.transfer;
  if (transfer === undefined) return native.clone(value, []);
  if (typeof transfer !== 'object' || transfer === null || typeof transfer[Symbol.iterator] !== 'function') {
    badField('StructuredCloneOptions', 'transfer', 'Array');
  }
  return native.clone(value, [...transfer]);
}

// A copy of what is sent to another port.
function cloneMessage(value) {
  return native.clone(value, [], 'SharedArrayBuffer is unsupported with MessagePort');
}

return { structuredClone: unlengthen(structuredClone), cloneMessage };
