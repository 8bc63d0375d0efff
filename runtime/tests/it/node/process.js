import imported, { env, nextTick, features, platform } from 'node:process';

const outcome = (action) => {
  try {
    return action();
  } catch (error) {
    return [error.name, error.code, error.message];
  }
};

export default {
  async test() {
    console.log(typeof process, imported.env === env, process.env === env, platform, Object.isFrozen(features), features);
    process.env.TEXT = 'a';
    process.env.NUMBER = 1.5;
    process.env.NOTHING = undefined;
    process.env.OBJECT = {};
    console.log(process.env.TEXT, process.env.NUMBER, process.env.NOTHING, process.env.OBJECT, process.env.UNKNOWN);
    console.log(Object.keys(process.env), 'TEXT' in process.env, delete process.env.TEXT, 'TEXT' in process.env);
    console.log(outcome(() => (process.env.SYMBOL = Symbol('no'))));
    console.log(outcome(() => (process.env[Symbol('no')] = 'a')));
    for (const descriptor of [
      { get: () => 1 },
      { value: 'a' },
      { value: 'a', configurable: true },
      { value: 'a', configurable: true, enumerable: true },
      { configurable: true, enumerable: true, writable: true },
      { value: 7, configurable: true, enumerable: true, writable: true },
    ]) {
      console.log(outcome(() => Object.defineProperty(process.env, 'DEFINED', descriptor).DEFINED));
    }
    console.log(outcome(() => Object.defineProperty(process.env, 'DEFINED', 5)));
    const order = [];
    await new Promise((resolve) => {
      nextTick((...args) => order.push(args), 1, 2);
      queueMicrotask(() => resolve(order.push('microtask')));
      order.push('now');
    });
    console.log(order);
  },
};
