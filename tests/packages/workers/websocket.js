// WebSockets: an echo through hono's helper, and one by hand that keeps count and says goodbye.
import { Hono } from "hono";
import { upgradeWebSocket } from "hono/cloudflare-workers";

const app = new Hono();

app.get(
  "/echo",
  upgradeWebSocket((c) => ({
    async onMessage({ data }, socket) {
      if (data === "who?") return socket.send(c.env.WHO);
      socket.send(data instanceof Blob ? await data.arrayBuffer() : data);
    },
  })),
);

app.get("/count", (c) => {
  const [client, server] = Object.values(new WebSocketPair());
  let count = 0;
  server.accept();
  server.binaryType = "arraybuffer";
  server.addEventListener("message", ({ data }) => {
    if (data === "bye") return server.close(4001, `after ${count}`);
    count += typeof data === "string" ? data.length : data.byteLength;
    server.send(`${count}`);
  });
  return new Response(null, { status: 101, webSocket: client });
});

export default app;
