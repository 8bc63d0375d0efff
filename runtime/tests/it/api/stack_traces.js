// What `error.stack` shows: the program's own calls, whatever the platform does to make them.
const show = (label, error) => console.log(`${label}: ${error?.stack}`);

function inner() {
  return new Error('made inside');
}

function deep(depth) {
  return depth ? deep(depth - 1) : new Error('deep');
}

async function later() {
  await null;
  return new Error('after a wait');
}

function caught(run) {
  try {
    run();
  } catch (error) {
    return error;
  }
}

export default {
  async test() {
    show('plain', inner());
    show('asynchronous', await later());
    show('many', deep(20));
    await new Promise((resolve) => setTimeout(() => resolve(show('timer', new Error('of a timer'))), 1));
    await new Promise((resolve) => queueMicrotask(() => resolve(show('microtask', new Error('of a microtask')))));
    show('thrown by V8', caught(() => null.x));
    show('in a builtin', caught(() => [1].map(() => null.x)));
    // Thrown by the platform, which is not shown.
    show('URL', caught(() => new URL('no')));
    show('Response', caught(() => new Response('', { status: 1 })));
    show('structuredClone', caught(() => structuredClone(() => {})));
    show('Headers', caught(() => new Headers([['a']])));
    show('an event', await new Promise((resolve) => {
      const target = new EventTarget();
      target.addEventListener('x', () => resolve(new Error('in a listener')));
      target.dispatchEvent(new Event('x'));
    }));

    const any = {};
    Error.captureStackTrace(any);
    show('captured', any);
    class Late extends Error {
      constructor() {
        super('m');
        this.name = 'Late';
      }
    }
    show('named late', new Late());
    class Hostile extends Error {
      get name() {
        throw 1;
      }
    }
    show('a hostile name', new Hostile('x'));

    // The program's own way to show them.
    Error.prepareStackTrace = (error, sites) =>
      `${error.message}, ${sites.length}, ${sites.map((site) => `${site.getFunctionName()} ${site.getLineNumber()}`)}`;
    show('prepared', inner());
    Error.prepareStackTrace = () => {
      throw new TypeError('while preparing');
    };
    console.log('failing to prepare:', caught(() => inner().stack).message);
    Error.prepareStackTrace = 'not a function';
    show('not prepared', inner());
    delete Error.prepareStackTrace;
    for (const limit of [1, 0]) {
      Error.stackTraceLimit = limit;
      show(`at most ${limit}`, inner());
    }
  },
};
