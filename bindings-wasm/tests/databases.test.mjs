// A lock is in the database of its address, or nowhere, because a server may deny SELECT.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import { createClient } from "redis";

import { Client } from "../dist/client/client.js";
import { RedisDriver } from "../dist/drivers/redis/driver.js";
import { LockLost, fromRedis } from "../dist/index.js";
import { REDIS_PEERS, placeOf } from "./peers.mjs";
import { address, unique, within } from "./servers.mjs";

const DATABASE = 3;
const PASSWORD = "secret";

/** Creates a user with all permissions except `denied`. Returns an operator's client and the user's name. */
async function userWithout(t, ...denied) {
  const operator = await createClient({ url: `redis://${address("FENCEPOST_REDIS")}` }).connect();
  const user = unique("user").replaceAll("/", "-");
  await operator.sendCommand(["ACL", "SETUSER", user, "on", `>${PASSWORD}`, "~*", "&*", "+@all", ...denied]);
  t.after(async () => {
    await operator.sendCommand(["ACL", "DELUSER", user]);
    operator.destroy();
  });
  return [operator, user];
}

/** fencepost clients in a database: by address, and on or in place of a client of the library. */
const WAYS = {};
for (const peer of REDIS_PEERS) {
  const row = `${peer.package}, ${peer.age} version`;
  WAYS[`${row}, by address`] = (t, user, database) => {
    const place = placeOf(address("FENCEPOST_REDIS"));
    const library = peer.at({ ...place, database, credentials: { user, password: PASSWORD } });
    const client = new Client(new RedisDriver(library));
    t.after(() => client.close().catch(() => undefined));
    return client;
  };
  WAYS[`${row}, given`] = (t, user, database) => {
    const [own, end] = peer.begin(`${user}:${PASSWORD}@${address("FENCEPOST_REDIS")}/${database}`);
    const client = fromRedis(own);
    t.after(async () => {
      await client.close().catch(() => undefined);
      end();
    });
    return client;
  };
}

/** Whether a lock's key is in a database. */
async function isIn(database, operator, name) {
  await operator.select(database);
  return (await operator.exists(name)) === 1;
}

/** A client that has selected a database after it was made. */
async function selecting(t, peer, database) {
  const [own, end] = await peer.make(address("FENCEPOST_REDIS"));
  t.after(end);
  await own.select(database);
  return own;
}

for (const peer of REDIS_PEERS) {
  test(`${peer.package}, ${peer.age} version, given: locks follow the client's select()`, async (t) => {
    const [operator] = await userWithout(t);
    const own = await selecting(t, peer, DATABASE);
    const client = fromRedis(own);
    t.after(() => client.close().catch(() => undefined));
    const lock = client.lock(unique("selected"), { ttl: 600_000 });
    const grant = await within(lock.acquire(), "the grant");
    assert.ok(await isIn(DATABASE, operator, lock.name));
    const other = DATABASE + 1;
    await own.select(other);
    // The key is not in the new database, so the client notices that the grant is lost.
    await assert.rejects(within(grant.extend(), "the loss"), LockLost);
    const next = await within(lock.acquire(), "the next grant");
    assert.ok(await isIn(other, operator, lock.name));
    await next.release();
    await operator.del(`{${lock.name}}:fence`);
    await operator.select(DATABASE);
    await operator.del([lock.name, `{${lock.name}}:fence`]);
  });
}

for (const peer of REDIS_PEERS.filter((one) => one.package === "ioredis")) {
  test(`${peer.package}, ${peer.age} version, given: the database stays while the client reconnects`, async (t) => {
    const [operator] = await userWithout(t);
    const own = await selecting(t, peer, DATABASE);
    const begins = once(own, "connecting");
    await operator.sendCommand(["CLIENT", "KILL", "ID", String(await own.client("id"))]);
    await within(begins, "the next connection");
    const databases = new Set();
    own.duplicate = (overrides) => {
      databases.add(overrides.db);
      return Object.getPrototypeOf(own).duplicate.call(own, overrides);
    };
    const client = fromRedis(own);
    t.after(() => client.close().catch(() => undefined));
    const lock = client.lock(unique("reconnecting"), { ttl: 600_000 });
    const grant = await within(lock.acquire(), "the grant");
    assert.ok(await isIn(DATABASE, operator, lock.name));
    assert.deepEqual([...databases], [DATABASE]);
    await grant.release();
    await operator.del(`{${lock.name}}:fence`);
  });
}

for (const [way, make] of Object.entries(WAYS)) {
  test(`${way}: a lock lies in the database of the address`, async (t) => {
    const [operator, user] = await userWithout(t);
    const client = make(t, user, DATABASE);
    const name = unique("database");
    const grant = await within(client.lock(name, { ttl: 600_000 }).acquire(), "the grant");
    assert.equal(await operator.exists(name), 0);
    await operator.select(DATABASE);
    assert.equal(await operator.exists(name), 1);
    await grant.release();
    await operator.del(`{${name}}:fence`);
  });

  for (const [what, database, denied, kind, says] of [
    ["without the right to SELECT", DATABASE, ["-select"], "no-permission", /NOPERM.*select/is],
    ["without that database", 99, [], "server-error", /ERR DB index is out of range/],
  ]) {
    test(`${way}: ${what} nothing is locked in another one`, async (t) => {
      const [operator, user] = await userWithout(t, ...denied);
      const client = make(t, user, database);
      const name = unique("denied");
      await assert.rejects(within(client.lock(name, { ttl: 600_000 }).acquire(), "the refusal"), (error) => {
        assert.equal(error.kind, kind, String(error));
        assert.match(error.message, says);
        return true;
      });
      assert.equal(await operator.exists(name), 0);
    });
  }
}
