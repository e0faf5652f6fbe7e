// Redis behind a connection that is open and silent, and Redis that has become a replica.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Redis } from "ioredis";
import { createClient } from "redis";

import { Refused, connect, fromRedis } from "../dist/index.js";
import { REDIS_PEERS, given } from "./peers.mjs";
import { address, unique, within } from "./servers.mjs";
import { relay } from "./support/relay.mjs";

const WAYS = {
  "node-redis by address": async (t, at) => {
    const client = await connect(`redis://${at}`);
    t.after(() => client.close().catch(() => undefined));
    return client;
  },
  "ioredis, given": (t, at) => given(t, REDIS_PEERS.at(-1), at),
};

async function operator(t, variable = "FENCEPOST_REDIS") {
  const client = await createClient({ url: `redis://${address(variable)}` }).connect();
  t.after(() => client.destroy());
  return client;
}

async function until(what, ask) {
  const end = performance.now() + 30_000;
  while (!(await ask())) {
    assert.ok(performance.now() < end, `${what} has not come`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

for (const [way, make] of Object.entries(WAYS)) {
  test(`${way}: a silent connection is given up, and another one is made`, async (t) => {
    const between = await relay(t, address("FENCEPOST_REDIS"));
    const client = await make(t, between.address);
    const held = await client.lock(unique("held")).acquire();
    between.silence();
    const grant = await within(client.lock(unique("silent")).acquire({ timeout: 20_000 }), "the grant");
    assert.ok(grant);
    await held.extend();
    await grant.release();
    await held.release();
  });

  test(`${way}: closing over a silent connection leaves nothing behind`, async (t) => {
    const between = await relay(t, address("FENCEPOST_REDIS"));
    const client = await make(t, between.address);
    const name = unique("close");
    await client.lock(name, { ttl: 600_000 }).acquire();
    between.silence();
    await client.close();
    assert.equal(await (await operator(t)).exists(name), 0);
  });

  test(`${way}: a silent subscription is noticed, and made again`, async (t) => {
    const between = await relay(t, address("FENCEPOST_REDIS"));
    const client = await make(t, between.address);
    const bare = await operator(t);
    const name = unique("deaf");
    const channel = `{${name}}:released`;
    const options = { ttl: 600_000, poll: 500_000 };
    const holder = await connect(`redis://${address("FENCEPOST_REDIS")}`);
    t.after(() => holder.close());
    const grant = await holder.lock(name, options).acquire();
    const waiting = client.lock(name, options).acquire();
    await until("the subscription", async () => (await bare.pubSubNumSub(channel))[channel] === 1);
    const before = between.accepted;
    between.silence();
    // Nobody asks anything: only a heartbeat can tell.
    await until("another connection", () => between.accepted > before);
    await until("the subscription on it", async () => (await bare.pubSubNumSub(channel))[channel] >= 1);
    await grant.release();
    await (await within(waiting, "the grant")).release();
    await bare.del(`{${name}}:fence`);
  });

  test(`${way}: who is told READONLY goes where the address leads now`, async (t) => {
    const between = await relay(t, address("FENCEPOST_REDIS_2"));
    const demoted = await operator(t, "FENCEPOST_REDIS_2");
    const client = await make(t, between.address);
    const lock = client.lock(unique("moved"));
    await (await lock.acquire()).release();
    const [host, port] = address("FENCEPOST_REDIS").split(":");
    await demoted.sendCommand(["REPLICAOF", host, port]);
    try {
      between.lead(address("FENCEPOST_REDIS"));
      const grant = await within(lock.acquire({ timeout: 20_000 }), "the grant");
      assert.ok(grant);
      assert.equal(await (await operator(t)).exists(lock.name), 1);
      await grant.release();
    } finally {
      await demoted.sendCommand(["REPLICAOF", "NO", "ONE"]);
    }
  });
}

test("node-redis, given: a silent connection is reported by name", async (t) => {
  const between = await relay(t, address("FENCEPOST_REDIS"));
  const own = createClient({ url: `redis://${between.address}` });
  own.on("error", () => undefined);
  await own.connect();
  t.after(() => own.destroy());
  const client = fromRedis(own);
  t.after(() => client.close().catch(() => undefined));
  await (await client.lock(unique("own")).acquire()).release();
  between.silence();
  await assert.rejects(within(client.lock(unique("own")).acquire({ timeout: 6000 }), "the refusal"), (error) => {
    assert.ok(error instanceof Refused && error.kind === "unreachable", String(error));
    assert.match(error.message, /the client given to fromRedis.*not answered/);
    assert.match(error.cause.message, /the client given to fromRedis/);
    return true;
  });
  assert.ok(own.isOpen, "it is never closed for the caller");
});

for (const [library, make] of [
  ["node-redis", (at) => (overrides) => createClient({ url: `redis://${at}`, ...overrides })],
  ["ioredis", (at) => (overrides) => new Redis(`redis://${at}`, overrides)],
]) {
  test(`${library}: what is subscribed to right behind its UNSUBSCRIBE is heard`, async (t) => {
    const inner = await import(`../dist/drivers/redis/${library}.js`);
    const { Subscriptions } = await import("../dist/drivers/redis/subscriptions.js");
    const listening = [];
    const heard = [];
    const subscriptions = new Subscriptions(inner.library(make(address("FENCEPOST_REDIS"))), {
      listening: (id) => listening.push(id),
      message: (id) => heard.push(id),
      gone: () => undefined,
      failed: (_id, error) => assert.fail(error),
    });
    t.after(() => subscriptions.end());
    const bare = await operator(t);
    const channel = unique("channel");
    for (let id = 1; id <= 20; id++) {
      subscriptions.subscribe(id, channel);
      await until("the confirmation", () => listening.includes(id));
      await bare.publish(channel, "released");
      await until(`message ${id}`, () => heard.includes(id));
      subscriptions.unsubscribe(channel);
    }
  });
}
