// navigator, with the platform's values.
'use strict';
const { badArgument, illegalConstructor, illegalInvocation, expose } = load('webidl');
const token = {};

class Navigator {
  #brand;
  constructor(key) {
    if (key !== token) illegalConstructor();
    this.#brand = true;
  }
  // Sends without waiting for an answer; what goes wrong is reported like any task that fails.
  sendBeacon(url, body) {
    if (!(#brand in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('Navigator', 'sendBeacon', 1, 'string');
    if (!native.inInvocation()) return false;
    const init = body === undefined || body === null ? { method: 'POST' } : { method: 'POST', body };
    load('workers').module.waitUntil(load('fetch').fetch(`${url}`, init));
    return true;
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

return { Navigator, navigator };
