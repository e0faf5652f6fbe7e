// Connections of the caller's: used, never closed, and left without a listener of ours.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import { Redis } from "ioredis";
import zookeeper from "node-zookeeper-client";
import { createClient } from "redis";

import { fromRedis, fromZooKeeper } from "../dist/index.js";
import { address, backends, unique, within } from "./servers.mjs";

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
