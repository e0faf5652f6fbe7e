// The middleware for Hono in workerd, where a request has properties that no other runtime has.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { root } from "./support/packed.mjs";
import { testInWorkerd } from "./support/workerd.mjs";

const WORKER = `
import assert from "node:assert/strict";
import { connect } from "fencepost/memory";
import { idempotent } from "fencepost/web/hono";
import { Hono } from "hono";

async function countries() {
  const client = await connect("memory:");
  const app = new Hono();
  app.use(idempotent(client.idempotency("payments"), { scope: () => "shop-7", secret: "a secret of the tests" }));
  app.post("/", async (c) => c.text(c.req.raw.cf.country + " " + (await c.req.text())));
  const headers = { "Idempotency-Key": "order-17" };
  const answers = [];
  for (const country of ["DE", "FR"]) {
    const request = new Request("http://shop/", { method: "POST", headers, body: "paid", cf: { country } });
    const response = await app.fetch(request);
    answers.push(await response.text(), response.headers.get("Idempotent-Replayed"));
  }
  await client.close();
  return answers;
}

export default { async test() { assert.deepEqual(await countries(), ["DE paid", null, "DE paid", "true"]); } };
`;

test("a handler sees what Cloudflare says of its request", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "fencepost-worker-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  await testInWorkerd(folder, { stdin: { contents: WORKER, resolveDir: root } });
});
