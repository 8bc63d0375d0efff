// One path an everyday task of a Worker; `src/web.rs` times them.
const MEBIBYTE = "x".repeat(1 << 20);
const BYTES = new TextEncoder().encode(MEBIBYTE);
// 256 chunks of 4 KiB, as a template or a rewriter would send them.
const CHUNKS = Array.from({ length: 256 }, () => BYTES.subarray(0, 4096));

const tasks = {
  hello: () => new Response("hello world"),
  json: async (request) => Response.json(await request.json()),
  download: () => new Response(MEBIBYTE),
  upload: async (request) => new Response(String((await request.arrayBuffer()).byteLength)),
  pass: (request) => new Response(request.body),
  transform: () => {
    const upper = new TransformStream({
      transform(chunk, controller) {
        controller.enqueue(chunk);
      },
    });
    const source = new ReadableStream({
      start() {
        this.at = 0;
      },
      pull(controller) {
        if (this.at === CHUNKS.length) return controller.close();
        controller.enqueue(CHUNKS[this.at++]);
      },
    });
    return new Response(source.pipeThrough(upper));
  },
  digest: async () => {
    const hash = await crypto.subtle.digest("SHA-256", BYTES.subarray(0, 65536));
    return new Response(new Uint8Array(hash)[0].toString());
  },
  urls: () => {
    let length = 0;
    for (let at = 0; at < 100; at++) {
      const url = new URL(`https://user@shop.example:8443/a/../b/${at}?q=${at}&r=two%20words#end`);
      url.searchParams.append("more", "ü");
      length += url.href.length;
    }
    return new Response(String(length));
  },
};

export default {
  fetch(request) {
    const task = tasks[new URL(request.url).pathname.slice(1)];
    return task ? task(request) : new Response("unknown task", { status: 404 });
  },
};
