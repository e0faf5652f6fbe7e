/** Hono on `@hono/node-server`, which replaces the global `Response`: so these tests run in a separate process. */

import assert from "node:assert/strict";
import type { Server, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { it } from "node:test";

import { connect } from "fencepost";
import { idempotent } from "fencepost/web/hono";
import { Hono } from "hono";
import { streamText } from "hono/streaming";

import { fresh } from "./support/backends.js";
import { address, eventually } from "./support/servers.js";
import { Order, SECRET, portOf } from "./support/web.js";

// Its types need those of a browser.
const load = createRequire(import.meta.url);
const { serve } = load("@hono/node-server") as { serve: (options: object) => Server };
const { RESPONSE_ALREADY_SENT } = load("@hono/node-server/utils/response") as { RESPONSE_ALREADY_SENT: Response };

const LIMIT = 90_000;

for (const [what, failOpen] of [
  ["with a claim", false],
  ["without one, because the store is away", true],
] as const) {
  it(`leaves what a handler writes by itself to the handler, ${what}`, async (context) => {
    const errors = context.mock.method(console, "error", () => undefined);
    const store = failOpen ? "127.0.0.1:1" : address("FENCEPOST_REDIS");
    const client = await connect(`redis://${store}`, { connectTimeout: failOpen ? 50 : LIMIT });
    context.after(() => client.close());
    const options = { scope: () => "shop-7", secret: SECRET, failOpen, onFailure: () => undefined };
    const responses: ServerResponse[] = [];
    const app = new Hono<{ Bindings: { outgoing: ServerResponse } }>();
    app.use(idempotent(client.idempotency(fresh()), options));
    app.post("/", (c) => {
      const { outgoing } = c.env;
      outgoing.writeHead(201).write("begun ");
      if (responses.push(outgoing) > 1) {
        outgoing.end("and done");
      }
      return RESPONSE_ALREADY_SENT;
    });
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
    context.after(() => {
      server.closeAllConnections();
      server.close();
    });
    const order = new Order(await portOf(server));
    const first = order.post();
    await eventually(LIMIT, "the first run", () => responses.length === 1);
    if (!failOpen) {
      // The handler keeps the claim as long as it writes.
      assert.equal((await order.post()).status, 409);
    }
    responses[0]?.end("and done");
    const { status, text } = await first;
    assert.deepEqual([status, text], [201, "begun and done"]);
    // A retry runs.
    await eventually(LIMIT, "the second run", async () => (await order.post()).text === "begun and done");
    assert.equal(responses.length, 2);
    assert.deepEqual(errors.mock.calls, []);
  });
}

it("announces the length of a whole body in one way only, also for a stream of Hono", async (context) => {
  const client = await connect("memory:");
  context.after(() => client.close());
  const app = new Hono();
  app.use(idempotent(client.idempotency(fresh()), { scope: () => "shop-7", secret: SECRET }));
  app.post("/", (c) =>
    streamText(c, async (stream) => {
      await stream.write("paid");
    }),
  );
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const order = new Order(await portOf(server));
  for (const replayed of [undefined, "true"]) {
    const { text, headers } = await order.post();
    assert.deepEqual([text, headers["idempotent-replayed"], headers["content-length"]], ["paid", replayed, "4"]);
    assert.equal(headers["transfer-encoding"], undefined);
  }
});
