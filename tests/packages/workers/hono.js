import { Hono } from "hono";
import { basicAuth } from "hono/basic-auth";
import { cors } from "hono/cors";
import { etag } from "hono/etag";
import { HTTPException } from "hono/http-exception";
import { poweredBy } from "hono/powered-by";
import { secureHeaders } from "hono/secure-headers";
import { stream, streamSSE, streamText } from "hono/streaming";
import { validator } from "hono/validator";

const app = new Hono();
app.use("/styled/*", poweredBy(), secureHeaders());
app.use("/api/*", cors({ origin: "https://shop.example", allowMethods: ["GET", "POST"] }));
app.use("/etag/*", etag());
app.use("/secret/*", basicAuth({ username: "ann", password: "key" }));

app.get("/", (c) => c.text("hello"));
app.get("/json", (c) => c.json({ who: c.env.WHO, deep: [1, { two: 2 }] }));
app.get("/html/:name{[a-z]+}", (c) => c.html(`<p>${c.req.param("name")}</p>`));
app.get("/posts/:id/comments/:comment?", (c) => c.json(c.req.param()));
app.get("/wild/*", (c) => c.text(c.req.path));
app.get("/query", (c) => c.json({ one: c.req.query("a"), all: c.req.queries("a") }));
app.get("/redirect", (c) => c.redirect("/json", 307));
app.get("/styled/page", (c) => c.text("styled"));
app.get("/api/data", (c) => c.json({ ok: true }));
app.get("/etag/page", (c) => c.text("the same each time"));
app.get("/secret/page", (c) => c.text("let in"));
app.get("/throws", () => {
  throw new HTTPException(418, { message: "short and stout" });
});
app.get("/breaks", () => {
  throw new Error("it broke");
});
app.get("/stream", (c) =>
  streamText(c, async (out) => {
    for (let at = 0; at < 5; at++) await out.writeln(`line ${at}`);
  }),
);
app.get("/bytes", (c) =>
  stream(c, async (out) => {
    for (let at = 0; at < 4; at++) await out.write(new Uint8Array(1024).fill(65 + at));
  }),
);
app.get("/events", (c) =>
  streamSSE(c, async (out) => {
    for (let id = 0; id < 3; id++) await out.writeSSE({ id: String(id), event: "tick", data: JSON.stringify({ id }) });
  }),
);
app.post(
  "/orders",
  validator("json", (value, c) => {
    if (typeof value.item !== "string") return c.json({ error: "item is missing" }, 400);
    return { item: value.item, count: Number(value.count ?? 1) };
  }),
  (c) => c.json({ ordered: c.req.valid("json") }, 201),
);
app.post("/form", async (c) => c.json(await c.req.parseBody({ all: true })));
app.post("/echo", async (c) => c.body(await c.req.arrayBuffer(), 200, { "content-type": c.req.header("content-type") ?? "none" }));
app.on(["PUT", "DELETE"], "/thing", (c) => c.text(c.req.method));
app.route("/admin", new Hono().get("/users", (c) => c.text("users")).all("/any", (c) => c.text("any " + c.req.method)));
app.notFound((c) => c.json({ missing: c.req.path }, 404));
app.onError((error, c) => (error instanceof HTTPException ? error.getResponse() : c.text(`failed: ${error.message}`, 500)));

export default app;
