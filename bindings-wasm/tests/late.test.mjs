// A reply that has arrived is handled before a late timer: a free lock is granted, however long the event loop was
// blocked.

import assert from "node:assert/strict";
import { test } from "node:test";

import { connect } from "../dist/index.js";
import { address, backends, unique, within } from "./servers.mjs";
import { relay } from "./support/relay.mjs";

/** Blocks the event loop, without work for the processor. */
function standStill(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** The time in which even a busy server replies, in ms. */
const ANSWERED = 1000;

/** A session that lasts longer than a few of these pauses. */
const AT = { ...backends, "zk:": () => backends["zk:"]().replace(/=\d+$/, "=10000") };

for (const [backend, url] of Object.entries(AT)) {
  test(`${backend} a free lock is granted behind a busy event loop`, async (t) => {
    const client = await connect(url());
    t.after(() => client.close());
    const lock = client.lock(unique("busy"));
    await (await within(lock.acquire(), "the first grant")).release();
    for (let round = 0; round < 6; round++) {
      const acquire = lock.acquire({ timeout: 200 });
      standStill(ANSWERED);
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
    // This connects the client, which cannot connect while the event loop is blocked.
    assert.equal(await client.lock(name).tryAcquire(), null);
    const acquire = client.lock(name).acquire({ timeout: 200 });
    standStill(ANSWERED);
    assert.equal(await acquire, null);
    await grant.release();
  });
}

/** Longer than a try or a release waits for the server. */
const LONG = 5200;

/** On Redis, a lease that outlives it. */
const lease = (backend) => (backend === "redis:" ? { ttl: 60_000 } : {});

for (const [backend, url] of Object.entries(AT)) {
  test(`${backend} a release is confirmed behind a standstill`, async (t) => {
    const client = await connect(url());
    t.after(() => client.close());
    const grant = await client.lock(unique("release"), lease(backend)).acquire();
    const release = grant.release();
    standStill(LONG);
    await release;
  });

  test(`${backend} a try, and an acquire, are answered behind a standstill`, async (t) => {
    const client = await connect(url());
    t.after(() => client.close());
    const [one, other] = ["try", "acquire"].map((name) => client.lock(unique(name), lease(backend)));
    for (const lock of [one, other]) {
      await (await lock.acquire()).release();
    }
    // On ZooKeeper, the age of the session's last confirmation depends on when the loop stops.
    for (const before of backend === "zk:" ? [0, 3500, 1000] : [0]) {
      await new Promise((resolve) => setTimeout(resolve, before));
      const asked = [one.tryAcquire(), other.acquire({ timeout: LONG - 200 })];
      standStill(LONG);
      for (const grant of await Promise.all(asked)) {
        assert.ok(grant);
        await grant.release();
      }
    }
  });
}

test("zk: a standstill is no silence of the server", async (t) => {
  const between = await relay(t, address("FENCEPOST_ZOOKEEPER"));
  const client = await connect(`zk://${between.address}?session_timeout=20000`);
  t.after(() => client.close());
  const lock = client.lock(unique("silence"));
  await (await lock.acquire()).release();
  const before = between.accepted;
  // No reply is pending when the loop stops, and 14 s are more than two thirds of the session's timeout.
  standStill(14_000);
  await (await within(lock.acquire(), "the grant")).release();
  assert.equal(between.accepted, before);
});
