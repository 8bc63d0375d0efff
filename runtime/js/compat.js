// The `Cloudflare` global, and the Worker's compatibility flags for other rooms. A room may keep an answer of `has` only
// when it is loaded by the program itself: what is prepared ahead of the program has no flags yet.
'use strict';
const { illegalConstructor, expose } = load('webidl');
const token = {};

class Cloudflare {
  constructor(key) {
    if (key !== token) illegalConstructor();
  }
}
expose(Cloudflare, 'Cloudflare');

function make() {
  const instance = new Cloudflare(token);
  primordials.defineProperty(instance, 'compatibilityFlags', {
    __proto__: null,
    value: primordials.freeze(native.flags()),
    writable: false,
    enumerable: true,
    configurable: true,
  });
  return instance;
}

let instance;
return {
  has: native.has,
  get Cloudflare() {
    return (instance ??= make());
  },
};
