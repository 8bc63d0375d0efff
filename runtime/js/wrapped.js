// Wrapped bindings: objects that an internal module makes from capabilities the Worker itself never sees. One that
// extends WrappedBinding crosses JS RPC: its module makes it again on the other side, from the same capability.
'use strict';
const { apply, Error } = primordials;
const rpc = load('rpc');
const { expose } = load('webidl');

class WrappedBinding {
  constructor(fetcher) {
    const known = rpc.stateOf(fetcher);
    const inner = known !== undefined && known.kind === rpc.SERVICE ? fetcher : undefined;
    new rpc.Stamp(this, { __proto__: null, kind: rpc.WRAPPED, inner, made: undefined });
  }
}
expose(WrappedBinding, 'WrappedBinding', { is: (object) => rpc.stateOf(object)?.kind === rpc.WRAPPED });

// What is sent for one, without its part's type.
function describe(state) {
  if (state.made === undefined || state.inner === undefined) {
    native.throwDataCloneError(
      'Could not serialize object of type "WrappedBinding". This type does not support serialization.',
    );
  }
  return [state.made.module, state.made.entrypoint, { fetcher: state.inner }];
}

// Makes the object that `module` wraps around `env`.
function make({ 0: module, 1: entrypoint, 2: env }) {
  const wrap = native.internalModule(module)[entrypoint];
  if (typeof wrap !== 'function') throw new Error(`wrapped binding entrypoint is not a function: ${entrypoint}`);
  // What is inside is the platform's own affair, whatever the Worker's compatibility flags say of its other stubs.
  rpc.ungate(env);
  const made = apply(wrap, undefined, [env]);
  if (typeof made !== 'object' || made === null) throw new Error('wrapped binding entrypoint did not return an object');
  const state = rpc.stateOf(made);
  if (state?.kind === rpc.WRAPPED) state.made = { __proto__: null, module, entrypoint };
  return made;
}

return { module: { __proto__: null, default: { WrappedBinding } }, describe, make };
