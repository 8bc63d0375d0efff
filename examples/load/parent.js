// A parent Worker: each request loads a fresh Worker that calls back to its host three times. `/spin` loads one that
// never comes back by itself.
import { RpcTarget } from 'cloudflare:workers';

const CHILD = `
import { WorkerEntrypoint } from 'cloudflare:workers';
export default class extends WorkerEntrypoint {
  async run(host, n) {
    for (let i = 0; i < 3; i++) n = await host.double(n);
    return n;
  }
  spin() {
    for (;;);
  }
}`;

class Host extends RpcTarget {
  double(n) {
    return n * 2;
  }
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const child = env.LOADER.load({
      compatibilityDate: '2026-08-15',
      mainModule: 'child.js',
      modules: { 'child.js': CHILD },
      globalOutbound: null,
      limits: { cpuMs: 1000 },
    }).getEntrypoint();
    if (pathname !== '/spin') return new Response(`${await child.run(new Host(), Number(searchParams.get('n')))}`);
    try {
      return new Response(`${await child.spin()}`);
    } catch (error) {
      return new Response(error.message, { status: 503 });
    }
  },
};
