// Sweeps of a scope, on a real ZooKeeper, a real Redis and in memory.

import assert from "node:assert/strict";
import { test } from "node:test";
import { TextEncoder } from "node:util";

import { connect } from "../dist/index.js";
import { address, unique } from "./servers.mjs";

const bytes = (text) => new TextEncoder().encode(text);

for (const [kind, url] of [
  ["ZooKeeper", () => `zk://${address("FENCEPOST_ZOOKEEPER")}/sweeps`],
  ["memory:", () => "memory:"],
]) {
  test(`${kind}: a sweep deletes what was released, or is past its retention`, async (t) => {
    const client = await connect(url());
    t.after(() => client.close());
    const scope = unique("sweep");
    const payments = client.idempotency(scope);
    assert.equal(await payments.sweep(), 0);
    const running = await payments.claim("running");
    await payments.register("done", bytes("receipt 1"));
    const released = await payments.claim("released");
    await released.release();
    assert.equal(await payments.sweep(), 1);
    await client.idempotency(scope, { retention: 1 }).register("brief", bytes("receipt 2"));
    while ((await payments.sweep()) === 0);
    assert.equal(await payments.look("brief"), null);
    assert.equal((await payments.register("done", bytes("another"))).replayed, true);
    await running.complete(bytes("receipt 3"));
  });
}

test("Redis expires records by itself, so a sweep deletes none", async (t) => {
  const client = await connect(`redis://${address("FENCEPOST_REDIS")}`);
  t.after(() => client.close());
  const payments = client.idempotency(unique("sweep"));
  const released = await payments.claim("released");
  await released.release();
  assert.equal(await payments.sweep(), 0);
});
