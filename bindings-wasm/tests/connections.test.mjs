// The caller's own connections: fencepost uses them, never closes them, and removes its listeners.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import { Redis } from "ioredis";
import OldestRedis from "ioredis-5";
import zookeeper from "node-zookeeper-client";
import { createClient } from "redis";

import { CleanupIncomplete, fromRedis, fromZooKeeper } from "../dist/index.js";
import { address, backends, unique, within } from "./servers.mjs";
import { relay } from "./support/relay.mjs";

for (const [library, make] of [
  ["node-redis", async (url) => createClient({ url }).connect()],
  ["ioredis", (url) => Promise.resolve(new Redis(url))],
]) {
  test(`${library}: a connection of the caller's is used, and never closed`, async () => {
    const own = await make(backends["redis:"]());
    const listeners = own.listenerCount("error");
    const client = fromRedis(own);
    const grant = await within(client.lock(unique("own")).acquire(), "the grant");
    await grant.release();
    await client.close();
    assert.equal(await own.ping(), "PONG");
    assert.equal(own.listenerCount("error"), listeners);
    await own.quit();
  });
}

/** More than the listeners of one event without which Node.js warns of a leak. */
const MANY = 11;

/** Ends a connection of ioredis, and waits for its end. */
async function disconnected(own) {
  const ended = once(own, "end");
  own.disconnect();
  await ended;
}

for (const [library, make, from, end] of [
  ["node-redis", async (url) => createClient({ url }).connect(), fromRedis, (own) => own.destroy()],
  ["ioredis", (url) => Promise.resolve(new Redis(url)), fromRedis, disconnected],
  [
    "node-zookeeper-client",
    async () => {
      const own = zookeeper.createClient(address("FENCEPOST_ZOOKEEPER"), { sessionTimeout: 5000 });
      own.connect();
      await once(own, "connected");
      return own;
    },
    (own) => fromZooKeeper(own, { prefix: "/js-many" }),
    (own) => own.close(),
  ],
]) {
  test(`${library}: many clients on one connection cause no warning of a leak, and each sees its end`, async (t) => {
    const warnings = [];
    const warn = (warning) => warnings.push(warning.message);
    process.on("warning", warn);
    t.after(() => process.off("warning", warn));
    const own = await make(backends["redis:"]());
    const clients = Array.from({ length: MANY }, () => from(own));
    const granted = clients.map((client) => client.lock(unique("many")).acquire());
    await within(Promise.all(granted), "the grants");
    const [first, ...others] = clients;
    await first.close();
    await end(own);
    const refused = async (client) => {
      await assert.rejects(within(client.lock(unique("ended")).acquire(), "the refusal"), { name: "Refused" });
      await client.close().catch((error) => assert.ok(error instanceof CleanupIncomplete, String(error)));
    };
    await Promise.all(others.map(refused));
    assert.deepEqual(warnings, []);
  });
}

test("node-redis: a signal for the caller's own commands does not abort those of locks", async (t) => {
  const own = await createClient({ url: backends["redis:"]() }).connect();
  t.after(() => own.destroy());
  const client = fromRedis(own.withAbortSignal(AbortSignal.abort()));
  t.after(() => client.close());
  const grant = await within(client.lock(unique("signal")).acquire(), "the grant");
  await grant.release();
});

for (const [library, make] of [
  ["node-redis", async (url) => createClient({ url }).connect()],
  ["ioredis", (url) => Promise.resolve(new Redis(url))],
]) {
  test(`${library}: a close behind the end of the caller's connection says that a lock stays`, async (t) => {
    const own = await make(backends["redis:"]());
    const operator = await createClient({ url: backends["redis:"]() }).connect();
    t.after(() => operator.destroy());
    const client = fromRedis(own);
    const name = unique("quit");
    await within(client.lock(name, { ttl: 60_000 }).acquire(), "the grant");
    const ended = once(own, "end");
    await own.quit();
    await ended;
    let over = false;
    const first = client.close().finally(() => (over = true));
    const beside = client.close().then(() => over);
    await assert.rejects(within(first, "the end"), (error) => {
      assert.ok(error instanceof CleanupIncomplete, String(error));
      assert.equal(error.count, 1);
      return true;
    });
    // The first close has reported it: a close at the same time waits for its end, and a later close reports nothing.
    assert.equal(await within(beside, "the end"), true);
    await within(client.close(), "the end");
    await within(client[Symbol.asyncDispose](), "the end");
    assert.equal(await operator.exists(name), 1);
    await operator.del(name);
  });
}

test("ioredis: with the caller's client end the connections that are made in its place", async (t) => {
  const own = new Redis(backends["redis:"]());
  const client = fromRedis(own);
  t.after(() => client.close());
  const lock = client.lock(unique("ended"), { ttl: 6000 });
  const listeners = own.listenerCount("end");
  const grant = await within(lock.acquire(), "the grant");
  const waiting = assert.rejects(lock.acquire(), { kind: "connection-closed" });
  const lost = once(grant.signal, "abort");
  await own.quit();
  await within(Promise.all([lost, waiting]), "the end of the grant and of the waiter");
  assert.equal(grant.signal.reason.kind, "lost-connection-closed");
  await assert.rejects(within(lock.acquire(), "the refusal"), { kind: "connection-closed" });
  assert.equal(own.listenerCount("end"), listeners);
});

test("ioredis: of a client that monitors its server, the address is used", async (t) => {
  const first = new Redis(backends["redis:"]());
  t.after(() => first.disconnect());
  const own = await first.monitor();
  t.after(() => own.disconnect());
  const client = fromRedis(own);
  t.after(() => client.close());
  const grant = await within(client.lock(unique("monitored")).acquire(), "the grant");
  await grant.release();
});

test("node-zookeeper-client: a connection of the caller's is used, and never closed", async () => {
  const own = zookeeper.createClient(address("FENCEPOST_ZOOKEEPER"), { sessionTimeout: 5000 });
  own.connect();
  await within(once(own, "connected"), "the connection");
  const listeners = own.eventNames().map((name) => own.listenerCount(name));
  const client = fromZooKeeper(own, { prefix: unique("own") });
  const grant = await within(client.lock("stock").acquire(), "the grant");
  await grant.release();
  await client.close();
  const root = await new Promise((resolve, reject) => {
    own.exists("/", (error, stat) => (error ? reject(error) : resolve(stat)));
  });
  assert.ok(root);
  assert.deepEqual(
    own.eventNames().map((name) => own.listenerCount(name)),
    listeners,
  );
  own.close();
});

/** A client of node-zookeeper-client that connects. */
function zooKeeperOf(t, sessionTimeout) {
  const own = zookeeper.createClient(address("FENCEPOST_ZOOKEEPER"), { sessionTimeout });
  own.connect();
  t.after(() => own.close());
  return own;
}

test("node-zookeeper-client: a client that is given before it has a session grants at once", async (t) => {
  // A session of unknown age is confirmed after a quarter of its timeout, which is much longer than the wait.
  const own = zooKeeperOf(t, 240_000);
  const client = fromZooKeeper(own, { prefix: "/js-given" });
  t.after(() => client.close());
  const grant = await within(client.lock(unique("new")).acquire(), "the grant");
  assert.ok(own.connectionManager.sessionTimeout > 4 * 30_000, "the server agreed to the timeout");
  await grant.release();
});

test("node-zookeeper-client: a server that was asked before the client was given may have begun a session", async (t) => {
  const { Session } = await import("../dist/drivers/zookeeper/session.js");
  const events = [];
  const listener = {
    connecting: () => events.push("connecting"),
    connected: () => events.push("connected"),
    suspended: () => events.push("suspended"),
  };
  const between = await relay(t, address("FENCEPOST_ZOOKEEPER"));
  between.mute(true);
  const own = zookeeper.createClient(between.address, { sessionTimeout: 30_000, spinDelay: 10 });
  own.connect();
  t.after(() => own.close());
  const { connectionManager: manager } = own;
  while (manager.socket === undefined || manager.socket.connecting) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const session = new Session(own, false, [], listener);
  t.after(() => session.close());
  assert.deepEqual(events, []);
  // The next attempt requests another session, which has not begun.
  between.mute(false);
  const connected = once(own, "connected");
  manager.socket.destroy();
  await within(connected, "the connection");
  assert.deepEqual(events, ["connecting", "connected"]);
  // The session is known from now on.
  const again = once(own, "connected");
  manager.socket.destroy();
  await within(again, "the connection");
  assert.deepEqual(events.slice(2), ["suspended", "connected"]);
});

for (const [what, acquire] of [
  ["a try", (lock) => lock.tryAcquire()],
  ["a short timeout", (lock) => lock.acquire({ timeout: 300 })],
]) {
  test(`node-zookeeper-client: ${what} on a free lock is granted late on a given session, and not refused`, async (t) => {
    const own = zooKeeperOf(t, 12_000);
    await within(once(own, "connected"), "the connection");
    const client = fromZooKeeper(own, { prefix: "/js-given" });
    t.after(() => client.close());
    const grant = await within(acquire(client.lock(unique("older"))), "the grant");
    assert.ok(grant);
    await grant.release();
  });
}

for (const Library of [Redis, OldestRedis]) {
  test(`ioredis of ${Library === Redis ? "the newest" : "an older"} version: the requests of one turn are few writes`, async (t) => {
    const own = new Library(backends["redis:"]());
    t.after(() => own.disconnect());
    let ours;
    own.duplicate = (overrides) => {
      ours = Library.prototype.duplicate.call(own, overrides);
      return ours;
    };
    const client = fromRedis(own);
    t.after(() => client.close());
    const locks = Array.from({ length: 20 }, () => client.lock(unique("turn"), { ttl: 60_000 }));
    // This opens the connection, and loads the scripts.
    await (await within(locks[0].acquire(), "a grant")).release();
    let writes = 0;
    const { stream } = ours;
    for (const way of ["_write", "_writev"]) {
      const write = stream[way];
      stream[way] = (...given) => {
        writes += 1;
        return write.apply(stream, given);
      };
    }
    const grants = await within(Promise.all(locks.map((lock) => lock.acquire())), "the grants");
    // One write for the first request, one for the next seven, and one for the other twelve.
    assert.equal(writes, 3);
    await within(Promise.all(grants.map((grant) => grant.release())), "the releases");
    assert.equal(writes, 6);
  });
}
