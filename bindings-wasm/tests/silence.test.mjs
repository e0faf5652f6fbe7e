// Redis behind a connection that is open and silent, and Redis that has become a replica.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createClient } from "redis";

import { Subscriptions } from "../dist/drivers/redis/subscriptions.js";
import { Refused, connect, fromRedis } from "../dist/index.js";
import { REDIS_PEERS, given, placeOf, reaching } from "./peers.mjs";
import { address, unique, within } from "./servers.mjs";
import { relay } from "./support/relay.mjs";

const named = ({ package: name, age }) => `${name}, ${age} version`;

/** Connections that fencepost makes: by address, or in place of a client of ioredis. */
const WAYS = {
  "by address": (t, at) => connectAt(t, at),
  ...Object.fromEntries(REDIS_PEERS.map((peer) => [`${named(peer)}, by address`, (t, at) => reaching(t, peer, at)])),
  ...Object.fromEntries(
    REDIS_PEERS.filter((peer) => peer.package === "ioredis").map((peer) => [
      `${named(peer)}, given`,
      (t, at) => given(t, peer, at),
    ]),
  ),
};

/** The same, and the caller's connections that carry commands. */
const ALL_WAYS = {
  ...WAYS,
  ...Object.fromEntries(
    REDIS_PEERS.filter((peer) => peer.package === "redis").map((peer) => [
      `${named(peer)}, given`,
      (t, at) => given(t, peer, at),
    ]),
  ),
};

async function connectAt(t, at) {
  const client = await connect(`redis://${at}`);
  t.after(() => client.close().catch(() => undefined));
  return client;
}

async function operator(t, variable = "FENCEPOST_REDIS") {
  const client = await createClient({ url: `redis://${address(variable)}` }).connect();
  t.after(() => client.destroy());
  return client;
}

async function until(what, ask) {
  const end = performance.now() + 90_000;
  while (!(await ask())) {
    assert.ok(performance.now() < end, `${what} has not come`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

// Each test has its own relay, and mostly waits. If all tests ran at once, their connections would take longer than a
// client waits for one.
describe("silence", { concurrency: 8 }, () => {
  for (const [way, make] of Object.entries(WAYS)) {
    test(`${way}: a silent connection is given up, and another one is made`, async (t) => {
      const between = await relay(t, address("FENCEPOST_REDIS"));
      const client = await make(t, between.address);
      const held = await client.lock(unique("held"), { ttl: 600_000 }).acquire();
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
      const confirmed = between.passed(channel);
      const waiting = client.lock(name, options).acquire();
      // The server counts a subscription before the client has its confirmation. A subscription without a confirmation
      // has failed, and has no heartbeat.
      await within(confirmed, "the confirmation");
      const before = between.accepted;
      between.silence();
      await until("another connection", () => between.accepted > before);
      await until("the subscription on it", async () => (await bare.pubSubNumSub(channel))[channel] >= 1);
      await grant.release();
      await (await within(waiting, "the grant")).release();
      await bare.del(`{${name}}:fence`);
    });
  }

  for (const [way, make] of Object.entries(ALL_WAYS)) {
    test(`${way}: renewals count, on the connection on which their answers come`, async (t) => {
      const between = await relay(t, address("FENCEPOST_REDIS"));
      const client = await make(t, between.address);
      const grant = await client.lock(unique("late"), { ttl: 9000 }).acquire();
      // The server knows the script from here on.
      await grant.extend();
      const before = between.accepted;
      between.delay(4000);
      for (let renewals = 0, last = grant.remaining; renewals < 2; last = grant.remaining) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        assert.ok(grant.isValid, `the grant has ended: ${grant.signal.reason}`);
        renewals += grant.remaining > last ? 1 : 0;
      }
      assert.equal(between.accepted, before);
      between.delay(0);
      await grant.release();
    });
  }

  for (const peer of REDIS_PEERS) {
    test(`${named(peer)}: only a heartbeat detects that a confirmed subscription has fallen silent`, async (t) => {
      const between = await relay(t, address("FENCEPOST_REDIS"));
      const [listening, gone] = [[], []];
      const subscriptions = new Subscriptions(peer.at(placeOf(between.address)), {
        listening: (id) => listening.push(id),
        gone: (id) => gone.push(id),
        failed: (_id, error) => assert.fail(error),
      });
      t.after(() => subscriptions.end());
      const channel = unique("channel");
      subscriptions.subscribe(1, channel);
      await until("the confirmation", () => listening.includes(1));
      between.silence();
      await until("its end", () => gone.includes(1));
      subscriptions.subscribe(2, channel);
      await until("the confirmation on another connection", () => listening.includes(2));
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
    await assert.rejects(within(client.lock(unique("own")).acquire({ timeout: 10_000 }), "the refusal"), (error) => {
      assert.ok(error instanceof Refused && error.kind === "unreachable", String(error));
      assert.match(error.message, /the client given to fromRedis.*not answered/);
      assert.match(error.cause.message, /the client given to fromRedis/);
      return true;
    });
    assert.ok(own.isOpen, "it is never closed for the caller");
  });
});

for (const [way, make] of Object.entries(WAYS)) {
  test(`${way}: after READONLY, the client goes where the address leads now`, async (t) => {
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

/**
 * Makes a failover: the second server gets the first one's data and takes its place. `before` creates keys. Returns the
 * operators' clients of both.
 */
async function failover(t, before) {
  const servers = [];
  // This runs before the operators' clients end, because functions run in the order in which they are registered.
  t.after(async () => {
    for (const one of servers) {
      await one.sendCommand(["REPLICAOF", "NO", "ONE"]);
      await one.flushAll();
    }
  });
  servers.push(await operator(t), await operator(t, "FENCEPOST_REDIS_2"));
  const [next, last] = servers;
  const follow = (one, variable) => one.sendCommand(["REPLICAOF", ...address(variable).split(":")]);
  await follow(next, "FENCEPOST_REDIS_2");
  await until("the link", async () => /master_link_status:up/.test(await next.info("replication")));
  const keys = await before();
  await until("the data", async () => (await next.exists(keys)) === keys.length);
  await next.sendCommand(["REPLICAOF", "NO", "ONE"]);
  await follow(last, "FENCEPOST_REDIS");
  return [next, last];
}

for (const [way, make] of Object.entries(WAYS)) {
  test(`${way}: a failover costs no grant, and a waiter listens to the new server`, async (t) => {
    const relays = [await relay(t, address("FENCEPOST_REDIS_2")), await relay(t, address("FENCEPOST_REDIS_2"))];
    const [client, holder] = [await make(t, relays[0].address), await make(t, relays[1].address)];
    // No waiter polls within this time: only a message wakes it.
    const options = { ttl: 600_000, poll: 500_000 };
    const [kept, waited] = [unique("kept"), unique("waited")];
    const channel = `{${waited}}:released`;
    const made = [];
    const [next, last] = await failover(t, async () => {
      made.push(await client.lock(kept, options).acquire(), await holder.lock(waited, options).acquire());
      made.push(client.lock(waited, options).acquire());
      made[2].catch(() => undefined);
      const bare = await operator(t, "FENCEPOST_REDIS_2");
      await until("the subscription", async () => (await bare.pubSubNumSub(channel))[channel] === 1);
      return [kept, waited];
    });
    const [grant, held, waiting] = made;
    relays.forEach((one) => one.lead(address("FENCEPOST_REDIS")));
    await within(grant.extend(), "the extension");
    assert.ok(grant.isValid);
    await until("the subscription there", async () => (await next.pubSubNumSub(channel))[channel] === 1);
    await until("its end here", async () => (await last.pubSubNumSub(channel))[channel] === 0);
    await within(held.release(), "the release");
    await (await within(waiting, "the message")).release();
    await grant.release();
    assert.equal(await next.exists([kept, waited]), 0);
  });
}

for (const peer of REDIS_PEERS.filter((one) => one.package === "redis")) {
  test(`${named(peer)}, given: the caller's connection stays open at READONLY`, async (t) => {
    const demoted = await operator(t, "FENCEPOST_REDIS_2");
    const [own, end] = await peer.make(address("FENCEPOST_REDIS_2"));
    const client = fromRedis(own);
    t.after(async () => {
      await client.close().catch(() => undefined);
      end();
    });
    const id = await own.sendCommand(["CLIENT", "ID"]);
    await demoted.sendCommand(["REPLICAOF", ...address("FENCEPOST_REDIS").split(":")]);
    try {
      await assert.rejects(client.lock(unique("readonly")).acquire({ timeout: 1000 }), Refused);
      assert.equal(await own.sendCommand(["CLIENT", "ID"]), id);
    } finally {
      await demoted.sendCommand(["REPLICAOF", "NO", "ONE"]);
    }
  });
}

for (const peer of REDIS_PEERS) {
  test(`${named(peer)}: a subscription right behind its UNSUBSCRIBE receives messages`, async (t) => {
    const listening = [];
    const received = [];
    const subscriptions = new Subscriptions(peer.at(placeOf(address("FENCEPOST_REDIS"))), {
      listening: (id) => listening.push(id),
      message: (id) => received.push(id),
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
      await until(`message ${id}`, () => received.includes(id));
      subscriptions.unsubscribe(channel);
    }
  });
}
