// The oldest and the newest version of every client library work, and the client refuses other objects of these
// libraries with an error that names them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";

import { Cluster, Redis } from "ioredis";
import Redis5 from "ioredis-5";
import { createClient, createClientPool, createCluster, createSentinel } from "redis";
import { createClient as createClient4, createCluster as createCluster4 } from "redis-4";
import { createClient as createClient5, createSentinel as createSentinel5 } from "redis-5";

import { ConfigError, connect, fromRedis } from "../dist/index.js";
import { REDIS_PEERS, given } from "./peers.mjs";
import { address, control, unique, within } from "./servers.mjs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));

test("the rows are the oldest version that package.json allows, and the newest that there is", () => {
  const { peerDependencies, devDependencies } = read("../package.json");
  const rows = [...REDIS_PEERS, { package: "node-zookeeper-client", as: "node-zookeeper-client", age: "oldest" }];
  assert.deepEqual([...new Set(rows.map((row) => row.package))].sort(), Object.keys(peerDependencies).sort());
  for (const { package: name, as, age } of rows) {
    const { version } = read(`../node_modules/${as}/package.json`);
    const [, from, below] = /^(?:>=)?(\S+)(?: <(\d+))?$/.exec(peerDependencies[name]);
    const oldest = from.padEnd(5, ".0");
    if (age === "oldest") {
      assert.equal(version, oldest, name);
    } else {
      assert.equal(version, devDependencies[name], name);
      assert.equal(Number(version.split(".")[0]) + 1, Number(below), `${name} is tested below its bound`);
    }
  }
});

/** Waits until a client listens for the release of a lock. Returns an operator's client. */
async function listens(t, at, name) {
  const operator = await createClient({ url: `redis://${at}` }).connect();
  t.after(() => operator.destroy());
  const channel = `{${name}}:released`;
  const end = performance.now() + 90_000;
  while ((await operator.pubSubNumSub(channel))[channel] !== 1) {
    assert.ok(performance.now() < end, "no client has subscribed");
  }
  return operator;
}

for (const peer of REDIS_PEERS) {
  const row = `${peer.package}, ${peer.age} version`;

  test(`${row}: holds, excludes, extends, and wakes waiters by a message`, async (t) => {
    const at = address("FENCEPOST_REDIS");
    const [a, b] = [await given(t, peer, at), await given(t, peer, at)];
    const name = unique("peers");
    // No waiter polls within this time: only a message wakes it.
    const options = { ttl: 600_000, poll: 500_000 };
    const grant = await within(a.lock(name, options).acquire(), "the grant");
    assert.equal(await b.lock(name, options).tryAcquire(), null);
    await grant.extend();
    const waiting = b.lock(name, options).acquire();
    const operator = await listens(t, at, name);
    await grant.release();
    const next = await within(waiting, "the message");
    assert.ok(next.fence > grant.fence);
    await next.release();
    await operator.del(`{${name}}:fence`);
  });

  test(`${row}: a close leaves no listener of ours on the caller's client`, async (t) => {
    const [own, end] = await peer.make(address("FENCEPOST_REDIS"));
    t.after(end);
    await own.ping();
    const listeners = () => ["error", "ready", "end", "close"].map((event) => own.listenerCount(event));
    const before = listeners();
    const client = fromRedis(own);
    const lock = client.lock(unique("listeners"));
    const grant = await within(lock.acquire(), "the grant");
    // It subscribes.
    assert.equal(await lock.acquire({ timeout: 2000 }), null);
    await grant.release();
    await client.close();
    assert.deepEqual(listeners(), before);
  });

  test(`${row}: goes on behind a cut connection`, async (t) => {
    const proxy = await control("proxy redis-1");
    t.after(() => control(`proxy-close ${proxy.id}`));
    const client = await given(t, peer, proxy.address);
    const lock = client.lock(unique("peers"));
    const grant = await within(lock.acquire(), "the grant");
    await control(`proxy-cut ${proxy.id}`);
    await control(`proxy-heal ${proxy.id}`);
    await within(grant.extend(), "the extension");
    assert.ok(grant.isValid);
    await grant.release();
  });

  test(`${row}: a mistake in a program is an error at once, and not repeated`, async (t) => {
    const client = await given(t, peer, address("FENCEPOST_REDIS"));
    const [own, end] = await peer.make(address("FENCEPOST_REDIS"));
    // A client whose methods expect other arguments, as in an untested version.
    let calls = 0;
    const other = (...parameters) => {
      calls += 1;
      throw new TypeError(`no such parameter: ${parameters.length}`);
    };
    const methods = peer.package === "redis" ? { sendCommand: other } : { evalshaBuffer: other, callBuffer: other };
    const strange = (one) => Object.assign(one, methods);
    const duplicate = own.duplicate.bind(own);
    strange(own).duplicate = (...overrides) => strange(duplicate(...overrides));
    const broken = fromRedis(own);
    t.after(end);
    const mistake = ({ code, kind, cause }) =>
      code === 506 && kind === "driver-failed" && cause instanceof TypeError && /no such parameter/.test(cause.message);
    const name = unique("mistake");
    const lock = broken.lock(name);
    await assert.rejects(within(lock.acquire(), "the mistake"), mistake);
    await assert.rejects(within(lock.tryAcquire(), "the mistake"), mistake);
    await within(broken.close(), "the end");
    assert.equal(calls, 1);
    const grant = await client.lock(name).tryAcquire();
    assert.ok(grant);
    await grant.release();
  });
}

/**
 * The steps of the client with a subscription. Each function makes a library with other methods, which fails at that
 * step.
 */
const MISTAKES = {
  subscribe: (strange) => ({ subscribe: strange }),
  unsubscribe: (strange) => ({ unsubscribe: strange }),
  // The heartbeat of a connection that listens; every connection begins with a ping, too.
  ping: (strange, one) => {
    const { sendCommand, callBuffer, subscribe } = one;
    let listens = false;
    const meets = (command) => listens && command === "ping";
    return {
      subscribe: (...channel) => {
        listens = true;
        return subscribe.apply(one, channel);
      },
      sendCommand: (parameters, ...rest) =>
        meets(parameters[0]) ? strange(parameters) : sendCommand.call(one, parameters, ...rest),
      callBuffer: (command, ...rest) => (meets(command) ? strange(command) : callBuffer.call(one, command, ...rest)),
    };
  },
};

describe("a mistake of a client library", { concurrency: true }, () => {
  for (const peer of REDIS_PEERS) {
    for (const [verb, methods] of Object.entries(MISTAKES)) {
      for (const [how, fail] of [
        [
          "throws",
          (error) => {
            throw error;
          },
        ],
        ["rejects", (error) => Promise.reject(error)],
      ]) {
        test(`${peer.package}, ${peer.age} version: a mistake that ${verb} ${how} is an error at once`, async (t) => {
          const at = address("FENCEPOST_REDIS");
          const client = await given(t, peer, at);
          const [own, end] = await peer.make(at);
          t.after(end);
          let calls = 0;
          const strange = (...parameters) => {
            calls += 1;
            return fail(new TypeError(`no such parameter: ${parameters.length}`));
          };
          const duplicate = own.duplicate.bind(own);
          own.duplicate = (...overrides) => {
            const one = duplicate(...overrides);
            return Object.assign(one, methods(strange, one));
          };
          const broken = fromRedis(own);
          const mistake = ({ code, cause }) => code === 506 && /no such parameter/.test(cause.message);
          const [held, name] = [unique("held"), unique("mistake")];
          const grant = await within(broken.lock(held).acquire(), "the first grant");
          // No waiter polls within this time: a message has to come.
          const options = { ttl: 600_000, poll: 500_000 };
          const first = await within(client.lock(name, options).acquire(), "the lock");
          const waiting = broken.lock(name, options).acquire();
          waiting.catch(() => undefined);
          if (verb === "unsubscribe") {
            // When its last waiter has left, the client ends the subscription.
            await listens(t, at, name);
            await first.release();
            await (await within(waiting, "the lock")).release();
            const lost = await within(grant.lost, "the loss");
            assert.ok(mistake(lost.cause), String(lost));
          } else {
            await assert.rejects(within(waiting, "the mistake"), mistake);
            await first.release();
          }
          await assert.rejects(within(acquireOf(broken, name), "the refusal"), mistake);
          assert.equal(calls, 1);
          await within(
            // When the client sends nothing more, a held lock stays until its lease ends.
            broken.close().catch((error) => assert.ok(error.code === 503 || mistake(error), String(error))),
            "the end",
          );
          const operator = await createClient({ url: `redis://${at}` }).connect();
          t.after(() => operator.destroy());
          await operator.del([held, `{${held}}:fence`, `{${name}}:fence`]);
        });
      }
    }
  }
});

/** An acquire of a client whose `lock` may already throw. */
async function acquireOf(client, name) {
  return client.lock(name).acquire();
}

test("what is no client of one server is refused by name", async () => {
  const url = "redis://127.0.0.1:1";
  const sentinel = { name: "main", sentinelRootNodes: [{ host: "127.0.0.1", port: 1 }] };
  const cluster = new Cluster([{ host: "127.0.0.1", port: 1 }], { lazyConnect: true });
  const redis = new Redis(url, { lazyConnect: true });
  const replica = { sentinels: [{ host: "127.0.0.1", port: 1 }], name: "main", role: "slave", lazyConnect: true };
  for (const [object, why] of [
    [createCluster({ rootNodes: [{ url }] }), /cluster/],
    [createCluster4({ rootNodes: [{ url }] }), /cluster/],
    [cluster, /cluster/],
    [createSentinel(sentinel), /sentinel/],
    [createSentinel5(sentinel), /sentinel/],
    [createClientPool({ url }), /pool/],
    [createClient4({ url }), /node-redis 4/],
    [createClient4({ url, legacyMode: true }), /node-redis 4/],
    [createClient({ url }).legacy(), /legacy/],
    [createClient5({ url }).legacy(), /legacy/],
    [new Redis(replica), /role: "slave"/],
    [new Redis5(replica), /role: "slave"/],
    [redis.pipeline(), /accepts a client/],
  ]) {
    assert.throws(
      () => fromRedis(object),
      (error) => error instanceof ConfigError && why.test(error.message),
      String(why),
    );
  }
  const client = createClient({ url });
  assert.throws(
    () => fromRedis(client, { prefix: "shop:" }),
    (error) => error instanceof ConfigError && error.kind === "unknown-option" && /prefix/.test(error.message),
  );
});

test("options that a call does not have are refused", async (t) => {
  const client = await connect("memory:");
  t.after(() => client.close());
  const unknown = (error) => error instanceof ConfigError && error.kind === "unknown-option";
  await assert.rejects(client.lock("x").tryAcquire({ timeout: 5 }), unknown);
  await assert.rejects(connect("memory:", { ttl: 1 }), unknown);
  for (const [connectTimeout, kind] of [
    [0, "not-positive"],
    [-1, "not-positive"],
    [1e12, "too-long"],
    [Infinity, "too-long"],
    [NaN, "invalid-option"],
    ["5", "invalid-option"],
  ]) {
    await assert.rejects(
      connect("memory:", { connectTimeout }),
      (error) => error instanceof ConfigError && error.kind === kind && error.message.includes("connectTimeout"),
    );
  }
});
