// Server-sent events, by hand and with back-pressure: a producer that waits for its reader.
const encoder = new TextEncoder();

export default {
  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    const count = Number(url.searchParams.get("count") ?? 3);
    if (url.pathname === "/pull") {
      let at = 0;
      const events = new ReadableStream({
        pull(controller) {
          if (at === count) return controller.close();
          controller.enqueue(encoder.encode(`id: ${at}\ndata: ${JSON.stringify({ at: at++ })}\n\n`));
        },
      });
      return new Response(events, { headers: { "content-type": "text/event-stream", "cache-control": "no-cache" } });
    }
    const { readable, writable } = new TransformStream();
    const produce = async () => {
      const writer = writable.getWriter();
      await writer.write(encoder.encode(`: resumed after ${request.headers.get("last-event-id") ?? "nothing"}\n\n`));
      for (let at = 0; at < count; at++) {
        await scheduler.wait(1);
        await writer.write(encoder.encode(`event: tick\nid: ${at}\ndata: first\ndata: second\n\n`));
      }
      await writer.close();
    };
    ctx.waitUntil(produce());
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  },
};
