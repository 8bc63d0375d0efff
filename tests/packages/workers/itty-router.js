import { AutoRouter, cors, error, IttyRouter, json, status, withContent, withParams } from "itty-router";

const { preflight, corsify } = cors({ origin: "https://shop.example" });
const admin = IttyRouter({ base: "/admin" });
admin.get("/users/:id", ({ params }) => json({ admin: params.id })).all("*", () => error(403));

const router = AutoRouter({
  before: [preflight, withParams],
  finally: [corsify],
  missing: () => error(404, "nothing here"),
});
router
  .get("/", () => "hello")
  .get("/items/:id", ({ id, query }) => ({ id, query }))
  .get("/file/:name.:ending?", ({ params }) => params)
  .get("/deep/:path+", ({ params }) => params)
  .post("/content", withContent, ({ content }) => ({ content }))
  .get("/status", () => status(204))
  .get("/throws", () => {
    throw new Error("it broke");
  })
  .all("/admin/*", admin.fetch);

export default { fetch: (request, env, ctx) => router.fetch(request, env, ctx) };
