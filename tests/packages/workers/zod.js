import { z } from "zod";

const Order = z
  .object({
    id: z.uuid(),
    mail: z.email(),
    placed: z.iso.datetime(),
    lines: z.array(z.object({ item: z.enum(["tea", "cake"]), count: z.int().positive().max(99) })).nonempty(),
    note: z.string().trim().max(20).optional(),
    payment: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("card"), last4: z.string().regex(/^\d{4}$/) }),
      z.object({ kind: z.literal("cash"), given: z.coerce.number() }),
    ]),
  })
  .strict()
  .refine((order) => order.lines.length < 4, { message: "too many lines", path: ["lines"] })
  .transform((order) => ({ ...order, total: order.lines.reduce((sum, { count }) => sum + count, 0) }));

export default {
  async fetch(request) {
    const url = new URL(request.url);
    if (url.pathname === "/schema") return Response.json(z.toJSONSchema(z.object({ a: z.string(), b: z.number().optional() })));
    const parsed = await Order.safeParseAsync(await request.json());
    if (parsed.success) return Response.json(parsed.data);
    return Response.json(parsed.error.issues.map(({ code, path, message }) => ({ code, path, message })), { status: 422 });
  },
};
