// An answer that has arrived beats a timer that is late: a free lock is granted, however long the event loop stood still.

import assert from "node:assert/strict";
import { test } from "node:test";

import { connect } from "../dist/index.js";
import { backends, unique, within } from "./servers.mjs";

function standStill(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** A session that stands a few of these pauses. */
const AT = { ...backends, "zk:": () => backends["zk:"]().replace(/=\d+$/, "=10000") };

for (const [backend, url] of Object.entries(AT)) {
  test(`${backend} a free lock is granted behind a busy event loop`, async (t) => {
    const client = await connect(url());
    t.after(() => client.close());
    const lock = client.lock(unique("busy"));
    await (await within(lock.acquire(), "the first grant")).release();
    for (let round = 0; round < 10; round++) {
      const acquire = lock.acquire({ timeout: 200 });
      standStill(300);
      const grant = await acquire;
      assert.ok(grant, `round ${round}`);
      await grant.release();
    }
  });

  test(`${backend} null says that another holder had the lock`, async (t) => {
    const at = url();
    const [client, other] = [await connect(at), await connect(at)];
    t.after(() => Promise.all([client.close(), other.close()]));
    const name = unique("held");
    const grant = await within(other.lock(name).acquire(), "the grant");
    const acquire = client.lock(name).acquire({ timeout: 200 });
    standStill(300);
    assert.equal(await acquire, null);
    await grant.release();
  });
}

test("redis: a release is confirmed behind a busy event loop", async (t) => {
  const client = await connect(backends["redis:"]());
  t.after(() => client.close());
  const grant = await client.lock(unique("release"), { ttl: 60_000 }).acquire();
  const release = grant.release();
  standStill(5200);
  await release;
});

test("redis: a try is answered behind a busy event loop", async (t) => {
  const client = await connect(backends["redis:"]());
  t.after(() => client.close());
  const lock = client.lock(unique("try"), { ttl: 60_000 });
  await (await lock.acquire()).release();
  for (let round = 0; round < 2; round++) {
    const acquire = lock.tryAcquire();
    standStill(5200);
    const grant = await acquire;
    assert.ok(grant);
    await grant.release();
  }
});
