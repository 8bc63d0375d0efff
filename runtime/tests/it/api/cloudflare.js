const { compatibilityFlags } = globalThis.Cloudflare;
const refusal = (act) => {
  try {
    return String(act());
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};
const attributes = (object, name) => {
  const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(object, name);
  return `${writable} ${enumerable} ${configurable}`;
};
export default {
  async test() {
    console.log(Object.isFrozen(compatibilityFlags), Object.getPrototypeOf(compatibilityFlags));
    console.log(compatibilityFlags.url_standard, compatibilityFlags.durable_object_rename, compatibilityFlags.url_original);
    console.log('nodejs_process_version_24' in compatibilityFlags, compatibilityFlags.nodejs_process_version_24);
    console.log(Object.keys(compatibilityFlags).slice(0, 3).join());
    console.log(refusal(() => (compatibilityFlags.url_standard = false)));
    console.log(refusal(() => new Cloudflare.constructor()));
    console.log(Object.prototype.toString.call(Cloudflare), Cloudflare.compatibilityFlags === compatibilityFlags);
    console.log(attributes(globalThis, 'Cloudflare'), attributes(Cloudflare, 'compatibilityFlags'));
    console.log(attributes(compatibilityFlags, 'url_standard'));
  },
};
