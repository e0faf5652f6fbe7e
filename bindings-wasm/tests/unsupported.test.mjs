// Connected objects of the client libraries that are not a client of one server: the error names each of them, and the
// object still works for its program.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Cluster } from "ioredis";
import { Cluster as Cluster5 } from "ioredis-5";
import { createClient, createClientPool, createCluster, createSentinel } from "redis";
import { createClient as createClient4, createCluster as createCluster4 } from "redis-4";
import {
  createClient as createClient5,
  createCluster as createCluster5,
  createSentinel as createSentinel5,
} from "redis-5";

import { ConfigError, fromRedis } from "../dist/index.js";
import { address, unique } from "./servers.mjs";
import { withCluster, withSentinel } from "./support/redis-processes.mjs";

/** Checks that an object is refused, and that it still works afterwards. */
async function refused(object, why, ask) {
  assert.throws(
    () => fromRedis(object),
    (error) => error instanceof ConfigError && why.test(error.message),
    String(why),
  );
  await ask?.();
}

const quietly = (client) => client.on("error", () => undefined);

/** Checks that a client can write and read. */
async function works(own) {
  const key = unique("works");
  await own.set(key, "yes");
  assert.equal(await own.get(key), "yes");
  await own.del(key);
}

const BYTES = { 36: Buffer };

for (const [version, create] of Object.entries({ newest: createSentinel, oldest: createSentinel5 })) {
  test(`redis, ${version} version: a connected sentinel client, and a client from its pool`, () =>
    withSentinel(address("FENCEPOST_REDIS"), async (place) => {
      const own = quietly(create({ name: "stock", sentinelRootNodes: [place] }));
      await own.connect();
      try {
        await refused(own, /sentinel client of node-redis/, () => works(own));
        const acquired = await own.acquire();
        await refused(acquired, /sentinel client of node-redis/, () => works(acquired));
        await acquired.release();
        await refused(own.withTypeMapping(BYTES), /sentinel client of node-redis/);
      } finally {
        own.destroy();
      }
    }));
}

const CLUSTERS = {
  "redis, newest version": [createCluster, (own) => own.destroy()],
  "redis, oldest version": [createCluster5, (own) => own.destroy()],
  "redis, version 4": [createCluster4, (own) => own.disconnect()],
};

test("a connected cluster", (t) =>
  withCluster(async (place) => {
    for (const [row, [create, end]] of Object.entries(CLUSTERS)) {
      await t.test(row, async () => {
        const own = quietly(create({ rootNodes: [{ socket: place }] }));
        await own.connect();
        try {
          await refused(own, /cluster client/, () => works(own));
          await refused(own.withTypeMapping?.(BYTES) ?? own, /cluster client/);
        } finally {
          await end(own);
        }
      });
    }
    for (const [row, Class] of Object.entries({ newest: Cluster, oldest: Cluster5 })) {
      await t.test(`ioredis, ${row} version`, async () => {
        const own = quietly(new Class([place]));
        try {
          await refused(own, /cluster client/, () => works(own));
        } finally {
          own.disconnect();
        }
      });
    }
  }));

test("redis: a connected pool, clients of version 4, and legacy interfaces", async (t) => {
  const url = `redis://${address("FENCEPOST_REDIS")}`;
  const pool = quietly(createClientPool({ url }));
  await pool.connect();
  t.after(() => pool.destroy());
  await refused(pool, /pool/, () => pool.ping());
  for (const legacyMode of [false, true]) {
    const own = quietly(createClient4({ url, legacyMode }));
    await own.connect();
    t.after(() => own.disconnect());
    await refused(own, /node-redis 4/, () => (legacyMode ? own.v4.ping() : own.ping()));
    if (legacyMode) {
      await refused(own.v4, /accepts a client/);
    } else {
      await refused(own.duplicate(), /node-redis 4/);
    }
  }
  for (const create of [createClient, createClient5]) {
    const own = quietly(create({ url }));
    await own.connect();
    t.after(() => own.destroy());
    await refused(own.legacy(), /legacy/, () => own.ping());
    await refused(own.multi(), /accepts a client/);
  }
});
