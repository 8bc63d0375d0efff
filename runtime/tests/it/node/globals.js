import { Buffer as Imported } from 'node:buffer';

export default {
  async test() {
    for (const name of ['Buffer', 'process', 'global', 'setImmediate', 'clearImmediate']) {
      const own = Object.getOwnPropertyDescriptor(globalThis, name);
      console.log(name, typeof globalThis[name], own && [own.writable, own.enumerable, own.configurable]);
    }
    console.log(Buffer === Imported, global === globalThis);
    await new Promise((resolve) => setImmediate((value) => resolve(console.log('immediate', value)), 1));
    clearImmediate(setImmediate(() => console.log('never')));
    await scheduler.wait(2);
  },
};
