// Bad input causes a clear error of one of the package's classes, and has no other effect.

import assert from "node:assert/strict";
import { test } from "node:test";

import zookeeper from "node-zookeeper-client";
import { createClient } from "redis";

import {
  ConfigError,
  Hub,
  MisuseError,
  Refused,
  ReleaseUnconfirmed,
  Settings,
  connect,
  fromRedis,
  fromZooKeeper,
  isFromReplica,
} from "../dist/index.js";
import { address, backends, unique, within } from "./servers.mjs";

const config = (kind) => (error) => error instanceof ConfigError && error.kind === kind;
const refused = (kind) => (error) => error instanceof Refused && error.kind === kind;

test("addresses", async () => {
  for (const [url, kind] of [
    ["http://x", "unknown-scheme"],
    ["zk://", "invalid-url"],
    ["zk://a?retries=1", "unknown-option"],
    ["redis://h/x", "invalid-url"],
    ["memory:a/b", "invalid-url"],
  ]) {
    await assert.rejects(connect(url), config(kind), url);
  }
  await assert.rejects(connect(42), ConfigError);
  await assert.rejects(connect("memory:", { retries: 1 }), ConfigError);
});

test("names", async (t) => {
  const client = await connect("memory:");
  t.after(() => client.close());
  assert.throws(() => client.lock(""), config("empty-name"));
  for (const name of ["a//b", "a/", "a\0b", "..", "🔒", "a/𝒳"]) {
    assert.throws(() => client.lock(name), config("invalid-name"), name);
  }
  assert.throws(() => client.lock(7), ConfigError);
  const long = "🔒".repeat(1000);
  assert.throws(() => client.lock(long), {
    kind: "invalid-name",
    message: new RegExp(`^invalid lock name "${"🔒".repeat(64)}…": `),
  });
});

test("half a character", async (t) => {
  const client = await connect(backends["redis:"]());
  t.after(() => client.close());
  // All of them would become U+FFFD, and would be the same lock.
  for (const name of ["s\ud800", "s\udfff", "\udc00\ud800"]) {
    assert.throws(() => client.lock(name), config("invalid-name"));
  }
  const grant = await client.lock(unique("🔒 s\ufffd")).tryAcquire();
  await grant.release();
});

test("an error repeats the beginning of a name", async (t) => {
  const client = await connect(backends["redis:"]());
  t.after(() => client.close());
  const grant = await client.lock(unique("ü".repeat(1000))).acquire();
  await grant.release();
  await assert.rejects(grant.release(), (error) => error.kind === "not-held" && error.message.length < 200);
  const nowhere = await connect("redis://127.0.0.1:1", { connectTimeout: 100 });
  t.after(() => nowhere.close());
  const long = nowhere.lock("ü".repeat(1000));
  await assert.rejects(long.acquire(), (error) => error.kind === "unreachable" && error.message.length < 300);
  assert.ok(new ReleaseUnconfirmed(long.name).message.length < 200);
});

test("durations", async (t) => {
  const client = await connect(backends["redis:"]());
  t.after(() => client.close());
  for (const ttl of [0, -1, NaN, Infinity, "10", 1]) {
    assert.throws(() => client.lock("x", { ttl }), ConfigError, String(ttl));
  }
  assert.throws(() => client.lock("x", { ttl: 100, margin: 90 }), config("lease-too-short"));
  assert.throws(() => client.lock("x", { tll: 100 }), ConfigError);
  for (const timeout of [0, -1, NaN, "soon"]) {
    await assert.rejects(client.lock("x").acquire({ timeout }), ConfigError, String(timeout));
  }
});

test("a server that is not there, a wrong password", async (t) => {
  for (const url of ["redis://127.0.0.1:1", "zk://127.0.0.1:1"]) {
    const client = await connect(url);
    t.after(() => client.close());
    await assert.rejects(client.lock("x").acquire({ timeout: 300 }), refused("unreachable"), url);
  }
  const client = await connect(`redis://:wrong@${address("FENCEPOST_REDIS_AUTH")}`);
  t.after(() => client.close());
  await assert.rejects(within(client.lock("x").acquire({ timeout: 10_000 }), "the refusal"), refused("auth-failed"));
});

/** Bytes whose memory does not exist any more: it was transferred to another thread, or their buffer has shrunk. */
const goneBytes = {
  transferred() {
    const bytes = Uint8Array.of(1, 2);
    globalThis.structuredClone(bytes, { transfer: [bytes.buffer] });
    return bytes;
  },
  shrunk() {
    const buffer = new ArrayBuffer(2, { maxByteLength: 2 });
    const bytes = new Uint8Array(buffer, 1, 1);
    buffer.resize(0);
    return bytes;
  },
};

for (const [what, make] of Object.entries(goneBytes)) {
  test(`bytes that were ${what}`, async (t) => {
    const client = await connect("memory:");
    t.after(() => client.close());
    const scope = client.idempotency("gone");
    const says = (field) => (error) =>
      error instanceof ConfigError && error.message.includes(`${field} is a Uint8Array whose buffer`);
    const grant = await client.lock("held").acquire();
    const claim = await scope.claim("key");
    await assert.rejects(claim.complete(make()), says("result"));
    await assert.rejects(scope.claim("other", { fingerprint: make() }), says("fingerprint"));
    await assert.rejects(scope.issue("token", { binding: make() }), says("binding"));
    const hub = new Hub("redis", 1);
    assert.throws(() => hub.complete(0, 1, "", make()), says("result"));
    // The client still works: an empty result is valid, and no grant is lost.
    await claim.complete(new Uint8Array());
    assert.equal(claim.result.length, 0);
    await grant.release();
  });
}

test("keys of another type", async (t) => {
  const client = await connect("memory:");
  t.after(() => client.close());
  for (const key of [7, null, Symbol("key")]) {
    await assert.rejects(client.idempotency("keys").claim(key), config("unreadable-settings"), String(key));
  }
});

test("connections that are none", () => {
  assert.throws(() => fromRedis({}), ConfigError);
  assert.throws(() => fromZooKeeper({}), ConfigError);
  assert.throws(() => fromZooKeeper(zookeeper.createClient("127.0.0.1:1")), /never connected/);
});

test("a key of another type", async (t) => {
  const client = await connect(backends["redis:"]());
  const operator = await createClient({ url: backends["redis:"]() }).connect();
  t.after(() => Promise.all([client.close(), operator.close()]));
  const name = unique("type");
  await operator.lPush(name, "x");
  await assert.rejects(client.lock(name).acquire(), refused("wrong-type"));
  assert.equal(await operator.lLen(name), 1);
  await operator.del(name);
});

test("children of other kinds in the lock's directory", async (t) => {
  const library = zookeeper.createClient(address("FENCEPOST_ZOOKEEPER"));
  library.connect();
  const client = await connect(backends["zk:"]());
  t.after(async () => {
    await client.close();
    library.close();
  });
  const name = unique("children");
  const grant = await within(client.lock(name).acquire(), "the grant");
  await grant.release();
  const create = (child) =>
    new Promise((resolve, reject) => {
      library.create(`/${name}/${child}`, zookeeper.CreateMode.EPHEMERAL, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  await create("notes");
  const beside = await within(client.lock(name).acquire(), "the grant beside an unrelated node");
  await beside.release();
  await create("c0ffee__lock__0000000001");
  const waiting = client.lock(name).acquire();
  assert.equal(await client.lock(name).tryAcquire(), null);
  await new Promise((resolve, reject) => {
    library.remove(`/${name}/c0ffee__lock__0000000001`, -1, (error) => (error ? reject(error) : resolve()));
  });
  const behind = await within(waiting, "the grant behind a foreign contender");
  assert.equal(behind.mixedLayouts, "c0ffee__lock__0000000001");
  await behind.release();
});

test("values of another type in settings and calls of the raw hub name the field and the value", () => {
  const says = (field, value) => (error) =>
    error instanceof ConfigError && error.message.includes(field) && error.message.includes(value);
  const kind = "redis-string";
  assert.throws(() => new Settings({ kind, name: "x", ttl: 10000n }), says("ttl", "10000n"));
  assert.throws(() => new Settings({ kind, name: "x", poll: "100" }), says("poll", '"100"'));
  assert.throws(() => new Settings({ kind, name: 7n }), says("name", "7n"));
  assert.throws(() => new Settings({ kind, name: "x", renew: Symbol("yes") }), says("renew", "Symbol(yes)"));
  const settings = new Settings({ kind, name: "x" });
  assert.throws(() => new Hub("redis", 1n), says("seed", "1n"));
  const hub = new Hub("redis", 1);
  const owner = new Uint8Array(16);
  assert.throws(() => hub.open(0n, settings, owner, 1), says("now", "0n"));
  assert.throws(() => hub.open(0, settings, owner, 1n), says("seed", "1n"));
  const key = hub.open(0, settings, owner, 1);
  assert.throws(() => hub.acquire(0, BigInt(key)), says("key", "1n"));
  assert.throws(() => hub.acquire(0, key, 10n), says("acquireTimeout", "10n"));
  assert.throws(() => hub.reply(0, "1", null), says("id", '"1"'));
  assert.throws(() => hub.poll(1n), says("only", "1n"));
  assert.throws(() => hub.session(0, "connected", 1n, 10n), says("timeout", "10n"));
  assert.throws(() => hub.session(0, "connected", 1, 10), says("session", "1"));
});

test("a replica's answer is known", () => {
  const replica = "READONLY You can't write against a read only replica.";
  assert.ok(isFromReplica(replica));
  assert.ok(isFromReplica(`ERR Error running script (call to f_1234): @user_script:1: @user_script: 1: -${replica}`));
  assert.ok(!isFromReplica("LOADING Redis is loading the dataset in memory"));
});

test("replies of the wrong shape into the raw hub", () => {
  const hub = new Hub("redis", 1);
  const settings = new Settings({ kind: "redis-string", name: "x" });
  const key = hub.open(0, settings, new Uint8Array(16), 1);
  hub.acquire(0, key);
  const output = hub.poll();
  assert.equal(output.type, "command");
  assert.throws(
    () => hub.reply(1, output.id, 42),
    (error) => error instanceof MisuseError && error.code === 203,
  );
  assert.throws(
    () => hub.reply(1, 999, 42),
    (error) => error instanceof MisuseError && error.code === 202,
  );
  assert.throws(
    () => hub.release(1, key),
    (error) => error instanceof MisuseError && error.code === 205,
  );
});
