// Hono on @hono/node-server.

import {
  OPTIONS,
  PORT,
  handle,
  load,
  payments,
  stopAtTerm,
} from "./common.mjs";

const { Hono } = await load("hono");
const { serve } = await load("@hono/node-server");
const { claimOf, idempotent } = await load("fencepost/web/hono");

const app = new Hono();
app.get("/ready", (c) => c.body(null));
const once = idempotent(payments, {
  scope: (c) => c.req.header("x-tenant"),
  ...OPTIONS,
});
app.use(once);
app.all("/run", answer);
app.all("/run/*", answer);
const server = serve({ fetch: app.fetch, port: PORT, hostname: "127.0.0.1" });
stopAtTerm(
  () => new Promise((resolve) => void server.close(resolve)),
  once.idle,
);

async function answer(c) {
  const read = new Uint8Array(await c.req.arrayBuffer());
  const { status, headers, body } = await handle(
    c.env.incoming.url,
    read,
    claimOf(c),
  );
  return new Response(
    typeof body === "string" ? body : ReadableStream.from(encoded(body)),
    { status, headers },
  );
}

async function* encoded(pieces) {
  for await (const piece of pieces) {
    yield new TextEncoder().encode(piece);
  }
}
