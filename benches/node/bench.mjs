// Measures one Node sandbox and prints one line of JSON: for each task its durations in microseconds, or bytes.
//   node bench.mjs isolated-vm|quickjs-emscripten PACKAGE_FOLDER PASSES LONG_PASSES RATE_SECONDS PAUSE_MS ISOLATES_HELD
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [sandboxName, packages, ...numbers] = process.argv.slice(2);
const [passes, longPasses, rateSeconds, pauseMs, isolatesHeld] = numbers.map(Number);
const require = createRequire(resolve(packages, "package.json"));

const trivial = "async () => 1";
const oneCall = "async () => await host(1)";
const manyCalls = "async () => { let sum = 0; for (let i = 0; i < 1000; i += 1) sum += await host(i); return sum; }";
const host = async (value) => value;

// Each sandbox: `open(source)` makes a fresh one with the program in it, `run()` resolves to what it returned.
const sandboxes = {
  "isolated-vm"() {
    const { Isolate } = require("isolated-vm");
    const install = "globalThis.host = (value) => $0.apply(undefined, [value], { result: { promise: true } });";
    return async (source) => {
      const isolate = new Isolate({ memoryLimit: 128 });
      const context = await isolate.createContext();
      await context.evalClosure(install, [host], { arguments: { reference: true } });
      const program = await isolate.compileScript(`(${source}\n)()`);
      return {
        run: () => program.run(context, { promise: true, copy: true }),
        close: () => isolate.dispose(),
      };
    };
  },
  async "quickjs-emscripten"() {
    const quickjs = await require("quickjs-emscripten").getQuickJS();
    return async (source) => {
      const runtime = quickjs.newRuntime();
      const context = runtime.newContext();
      const call = context.newFunction("host", (handle) => {
        const value = context.dump(handle);
        const promise = context.newPromise();
        host(value).then((answer) => {
          promise.resolve(context.newNumber(answer));
          runtime.executePendingJobs();
        });
        return promise.handle;
      });
      context.setProp(context.global, "host", call);
      call.dispose();
      return {
        async run() {
          const promise = context.unwrapResult(context.evalCode(`(${source}\n)()`));
          const settled = context.resolvePromise(promise);
          runtime.executePendingJobs();
          const value = context.unwrapResult(await settled);
          const answer = context.dump(value);
          value.dispose();
          promise.dispose();
          return answer;
        },
        close() {
          context.dispose();
          runtime.dispose();
        },
      };
    };
  },
};

const open = await sandboxes[sandboxName]();

async function pass(source, expected) {
  const sandbox = await open(source);
  const answer = await sandbox.run();
  if (answer !== expected) throw new Error(`${sandboxName} answered ${answer} instead of ${expected}`);
  sandbox.close();
}

const pause = () => new Promise((resolve) => setTimeout(resolve, pauseMs));
const backToBack = () => {};

async function durations(times, between, source, expected) {
  for (let i = 0; i < Math.min(times, 10); i += 1) await pass(source, expected);
  const micros = [];
  for (let i = 0; i < times; i += 1) {
    await between();
    const started = process.hrtime.bigint();
    await pass(source, expected);
    micros.push(Number(process.hrtime.bigint() - started) / 1000);
  }
  return micros;
}

async function bytesPerSandbox(held) {
  const before = process.memoryUsage().rss;
  const sandboxes = [];
  for (let i = 0; i < held; i += 1) {
    const sandbox = await open(trivial);
    await sandbox.run();
    sandboxes.push(sandbox);
  }
  const bytes = (process.memoryUsage().rss - before) / held;
  for (const sandbox of sandboxes) sandbox.close();
  return bytes;
}

async function passesPerSecond(seconds, atOnce) {
  const end = process.hrtime.bigint() + BigInt(seconds * 1e9);
  let done = 0;
  const worker = async () => {
    while (process.hrtime.bigint() < end) {
      await pass(trivial, 1);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return done / seconds;
}

console.log(
  JSON.stringify({
    bytesPerIsolate: await bytesPerSandbox(isolatesHeld),
    freshTrivial: await durations(passes, pause, trivial, 1),
    backToBack: await durations(passes, backToBack, trivial, 1),
    freshOneCall: await durations(passes, pause, oneCall, 1),
    thousandCalls: await durations(longPasses, pause, manyCalls, 499500),
    passesPerSecond: await passesPerSecond(rateSeconds, 2),
  }),
);
