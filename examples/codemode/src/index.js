// Cloudflare's own client library for code mode, unchanged, in a parent Worker: POST a program to `/`, or
// `{ "code", "timeout", "modules" }` as JSON, and it runs in a Worker of its own with the tools below.
import { DynamicWorkerExecutor, resolveProvider } from "@cloudflare/codemode";
import { shop, text } from "./tools.js";

async function run(env, { code, timeout = 5000, modules }) {
  const executor = new DynamicWorkerExecutor({ loader: env.LOADER, timeout, modules });
  return executor.execute(code, [resolveProvider({ tools: shop }), resolveProvider({ name: "text", tools: text, positionalArgs: true })]);
}

export default {
  async fetch(request, env) {
    if (request.method !== "POST") {
      return new Response("POST a program: an async arrow function that calls codemode.* and text.*\n", { status: 405 });
    }
    const json = request.headers.get("content-type") === "application/json";
    const program = json ? await request.json() : { code: await request.text() };
    return Response.json(await run(env, program));
  },
};
