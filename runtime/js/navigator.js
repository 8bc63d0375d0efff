// navigator and performance, with the platform's values: one clock, whose origin is the epoch.
'use strict';
const { illegalConstructor, illegalInvocation, expose } = load('webidl');
const token = {};

class Navigator {
  constructor(key) {
    if (key !== token) illegalConstructor();
  }
}
// The platform has these as own, read-only properties of the one instance.
function readOnly(object, values) {
  for (const name in values) {
    primordials.defineProperty(object, name, {
      __proto__: null,
      value: values[name],
      writable: false,
      enumerable: true,
      configurable: true,
    });
  }
}
expose(Navigator, 'Navigator');
const navigator = new Navigator(token);
readOnly(navigator, {
  languages: ['en'],
  language: 'en',
  platform: '',
  hardwareConcurrency: 1,
  userAgent: 'Cloudflare-Workers',
});

class Performance {
  #brand = true;
  constructor(key) {
    if (key !== token) illegalConstructor();
  }
  get timeOrigin() {
    if (!(#brand in this)) illegalInvocation();
    return 0;
  }
  now() {
    if (!(#brand in this)) illegalInvocation();
    return native.now();
  }
}
expose(Performance, 'Performance');

return { Navigator, navigator, performance: new Performance(token) };
