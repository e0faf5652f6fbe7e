/** Hono on `@hono/node-server`, which replaces the global `Response`: so these tests run in a separate process. */

import assert from "node:assert/strict";
import type { Server, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { type TestContext, it } from "node:test";

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

/** Starts a server, which ends with the test. */
async function serving(context: TestContext, app: { readonly fetch: unknown }): Promise<Order> {
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return new Order(await portOf(server));
}

/** An application with the middleware, on its own `memory:`. */
async function protectedApp(context: TestContext, options: object = {}): Promise<Hono> {
  const client = await connect("memory:");
  context.after(() => client.close());
  const all = { scope: () => "shop-7", secret: SECRET, ...options };
  const app = new Hono();
  app.use(idempotent(client.idempotency(fresh()), all));
  return app;
}

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
    const order = await serving(context, app);
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
  const app = await protectedApp(context);
  app.post("/", (c) =>
    streamText(c, async (stream) => {
      await stream.write("paid");
    }),
  );
  const order = await serving(context, app);
  for (const replayed of [undefined, "true"]) {
    const { text, headers } = await order.post();
    assert.deepEqual([text, headers["idempotent-replayed"], headers["content-length"]], ["paid", replayed, "4"]);
    assert.equal(headers["transfer-encoding"], undefined);
  }
});

for (const [what, body] of [
  ["fails", () => new ReadableStream({ pull: (controller) => controller.error(new Error("the disk is broken")) })],
  ["is too short", () => "abc"],
] as const) {
  it(`answers with an error of its own after a body that ${what}`, async (context) => {
    const app = await protectedApp(context);
    app.onError((error, c) => c.json({ error: error.message }, 500));
    app.post("/", (c) => {
      const ofBody = {
        "Content-Length": "10000",
        "Content-Type": "text/csv",
        "Content-Encoding": "gzip",
        "ETag": '"1"',
      };
      return c.body(body(), 200, { ...ofBody, "X-Request": "17" });
    });
    const { status, headers, text } = await (await serving(context, app)).post();
    const { error } = JSON.parse(text) as { error: string };
    assert.match(error, /the disk is broken|ended after 3 of the 10000 bytes/);
    assert.deepEqual([status, headers["content-length"]], [500, String(text.length)]);
    assert.equal(headers["content-type"], "application/json");
    // Other headers stay, such as those of middleware outside.
    assert.deepEqual(
      [headers["content-encoding"], headers["etag"], headers["x-request"]],
      [undefined, undefined, "17"],
    );
  });
}

it("stores a response of fetch, whose headers cannot change", async (context) => {
  let charges = 0;
  const upstream = new Hono().post("/", (c) => c.text(`charge ${++charges}`, 201, { Location: "/charges/1" }));
  const { url } = await serving(context, upstream);
  const app = await protectedApp(context);
  app.post("/", () => fetch(url, { method: "POST" }));
  const order = await serving(context, app);
  for (const replayed of [undefined, "true"]) {
    const { status, headers, text } = await order.post();
    assert.deepEqual([status, text, headers["location"]], [201, "charge 1", "/charges/1"]);
    assert.equal(headers["idempotent-replayed"], replayed);
  }
});
