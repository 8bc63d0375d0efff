// The parent Worker that is measured: each request is one task, timed by the client. The same harness idea as in loaderd: a fixed
// module that runs the program with a capability to call, in a Worker loaded with `load()` and no outbound network.
import { RpcTarget } from "cloudflare:workers";

const harness = `import { WorkerEntrypoint } from "cloudflare:workers";
import program from "./program.js";
export default class extends WorkerEntrypoint {
  async run(host) { globalThis.host = (value) => host.call(value); return await program(); }
}`;

const programs = {
  trivial: "async () => 1",
  oneCall: "async () => await host(1)",
  thousandCalls: "async () => { let sum = 0; for (let i = 0; i < 1000; i += 1) sum += await host(i); return sum; }",
  // workerd's clock ticks, so there the program ends itself: nothing else would. loaderd's stands still during a turn, and there
  // the limit below ends it.
  spin: "async () => { const end = Date.now() + 200; while (Date.now() < end); return 1; }",
};

const code = (name) => ({
  compatibilityDate: "2025-05-01",
  mainModule: "harness.js",
  modules: { "harness.js": harness, "program.js": `export default (\n${programs[name]}\n);` },
  globalOutbound: null,
  ...(name === "spin" && { limits: { cpuMs: 200 } }),
});

class Host extends RpcTarget {
  call(value) {
    return value;
  }
}

const fresh = async (env, name) => await env.loader.load(code(name)).getEntrypoint().run(new Host());

// One warm Worker per id stays loaded.
const warm = async (env, id) => await env.loader.get(id, () => code("trivial")).getEntrypoint().run(new Host());

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const [, task, name] = pathname.split("/");
    switch (task) {
      case "baseline":
        return new Response("1");
      case "fresh":
        return new Response(String(await fresh(env, name)));
      case "spin":
        await fresh(env, "spin").catch(() => {});
        return new Response("1");
      case "hold":
        for (let id = 0; id < Number(searchParams.get("count")); id += 1) await warm(env, `held-${id}`);
        return new Response("1");
      case "warm":
        return new Response(String(await warm(env, "warm")));
      default:
        return new Response("unknown task", { status: 404 });
    }
  },
};
