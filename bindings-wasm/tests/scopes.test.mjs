// Idempotent operations on the hub: the table of scopes that all languages share, and results with any bytes on a real
// Redis, through each client library.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as nodeRedis from "../dist/drivers/redis/node-redis.js";
import { redisModule } from "../dist/hub/families/redis.js";
import { ConfigError, Hub, MisuseError, Scope, Settings } from "../dist/index.js";
import { REDIS_PEERS, placeOf } from "./peers.mjs";
import { address, unique, within } from "./servers.mjs";

const rows = JSON.parse(readFileSync(new URL("../../tests/scopes.json", import.meta.url), "utf8"));
const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

/** A row's options in JavaScript's form: names in camel case, durations in ms. */
function data({ options }) {
  const isMicros = (name, value) => redisModule().optionType(name) === 1 && typeof value === "number";
  const entries = Object.entries(options).map(([name, value]) => [
    camel(name),
    isMicros(name, value) ? value / 1000 : value,
  ]);
  return { server: "redis", kind: "claim", ...Object.fromEntries(entries) };
}

const config = (kind, says) => (error) => {
  assert.ok(error instanceof ConfigError, String(error));
  assert.equal(error.kind, kind, error.message);
  assert.ok(error.message.includes(says), error.message);
  return true;
};

for (const row of rows) {
  const { options, error, says } = row;
  test(`a scope is ${error === undefined ? "accepted" : `refused as ${error}`}: ${JSON.stringify(options)}`, () => {
    if (error === undefined) {
      const settings = new Scope(data(row)).claim("order-17", bytes("print"));
      assert.equal(new Hub("redis").open(0, settings, randomBytes(16)), 1);
    } else {
      // Durations are in ms here, and so is the error's text.
      const said = says
        .replace("whole microseconds", "milliseconds")
        .replace("a claim on Redis has renew", "renew, margin");
      assert.throws(() => new Scope(data(row)), config(error, said));
    }
  });
}

test("a scope refuses what is no key, no digest and no number", () => {
  const scope = new Scope({ server: "redis", kind: "claim", scope: "payments" });
  const print = bytes("print");
  assert.throws(() => scope.claim(""), config("invalid-option", "key"));
  assert.throws(() => scope.claim(17), config("unreadable-settings", "key"));
  assert.throws(() => scope.claim("a\ud800"), config("invalid-option", "half a character"));
  assert.throws(() => scope.claim("a", "print"), config("unreadable-settings", "fingerprint"));
  assert.throws(() => scope.claim("a", new Uint8Array(1025)), config("invalid-option", "fingerprint"));
  assert.throws(() => scope.consume("a", null), config("unreadable-settings", "binding"));
  assert.throws(() => scope.issue("a", print, 0), config("not-positive", "life"));
  assert.throws(() => scope.issue("a", print, "1"), config("unreadable-settings", "life"));
  assert.throws(() => scope.update("a", "", 0, print, "", print), config("invalid-option", "operation"));
  for (const version of [-1, 0.5, NaN, 2 ** 53]) {
    const says = config("invalid-option", `version is ${version}: `);
    assert.throws(() => scope.update("a", "b", version, print, "", print), says);
  }
  assert.throws(() => scope.forget("a", -1), config("invalid-option", "guard is -1: "));
  assert.throws(() => scope.settle("a", 1, "x".repeat(256), print), config("invalid-option", "tag"));
  assert.throws(() => scope.settle("a", 1, "", new Uint8Array(1_000_001)), config("invalid-option", "result"));
  assert.throws(() => scope.register("a", null, print, "", "text"), config("unreadable-settings", "result"));
  const short = { server: "zookeeper", kind: "claim", scope: "x", lease: 1000 };
  assert.throws(() => new Scope(short), config("unknown-option", "session_timeout"));
});

test("a scope has the machines of its server", () => {
  for (const server of ["zookeeper", "memory"]) {
    const settings = new Scope({ server, kind: "claim", scope: "payments" }).claim("order-17");
    assert.equal(new Hub("zookeeper").open(0, settings, randomBytes(16)), 1);
    assert.throws(() => new Hub("redis").open(0, settings, randomBytes(16)), MisuseError);
  }
});

test("a step at another service has the same key in all languages", () => {
  const scope = new Scope({ server: "redis", kind: "claim", scope: "payments" });
  assert.equal(scope.derive("order-17", "charge"), "5ea047ab7a76865a46935f91d9a50cc4");
  assert.throws(() => scope.derive("", "charge"), config("invalid-option", "key"));
});

test("only a claim can be completed or left", () => {
  for (const [family, settings] of [
    ["redis", new Settings({ server: "redis", kind: "lock", name: "x" })],
    ["zookeeper", new Settings({ server: "zookeeper", kind: "lock", name: "x" })],
  ]) {
    const hub = new Hub(family);
    const key = hub.open(0, settings, randomBytes(16));
    const misuse = (error) => error instanceof MisuseError && error.kind === "not-a-claim";
    assert.throws(() => hub.complete(0, key, "", bytes("x")), misuse);
    assert.throws(() => hub.leave(0, key), misuse);
    assert.throws(() => hub.complete(0, key, "", "x"), config("unreadable-settings", "result"));
  }
});

/** All values of a byte, in an order that is not valid UTF-8. */
const ALL = Uint8Array.from({ length: 256 }, (_, value) => 255 - value);

/**
 * All ways of a command to a server: fencepost's own connection with each library, and the program's connection of
 * node-redis.
 */
const WAYS = REDIS_PEERS.map((peer) => [
  `${peer.package} ${peer.age}`,
  async (t) => {
    const { session, end } = peer.at(placeOf(address("FENCEPOST_REDIS"))).open(() => undefined);
    t.after(end);
    return within(session, "the connection");
  },
]);
for (const peer of REDIS_PEERS.filter((peer) => peer.package === "redis")) {
  WAYS.push([
    `the program's own ${peer.package} ${peer.age}`,
    async (t) => {
      const [own, end] = await peer.make(address("FENCEPOST_REDIS"), {
        commandOptions: { typeMapping: { 36: String } },
      });
      t.after(end);
      return nodeRedis.borrow(own);
    },
  ]);
}

for (const [way, open] of WAYS) {
  test(`bytes are the same on the way to Redis and back: ${way}`, async (t) => {
    const session = await open(t);
    const hub = new Hub("redis");
    const scope = new Scope({ server: "redis", kind: "claim", scope: unique("bytes") });
    const long = new Uint8Array(1_000_000).fill(ALL[0]);
    long.set(ALL, 5);

    /** Drives one machine until its next event. */
    const next = async () => {
      for (;;) {
        const output = hub.poll();
        if (output.type === "event") {
          return output;
        }
        assert.equal(output.type, "command", "nothing is waited for");
        const { id, operation } = output;
        assert.equal(operation, "call");
        const answer = await within(session.call(output.arguments), "the answer").catch((error) => error);
        hub.reply(0, id, answer);
      }
    };
    const ask = async (settings) => {
      const key = hub.open(0, settings, randomBytes(16));
      hub.tryAcquire(0, key);
      return [await next(), key];
    };

    for (const result of [ALL, bytes(""), bytes("\ufefftext with a NUL \0 and 1 € more"), long]) {
      const key = `order-${result.length}`;
      const [granted, machine] = await ask(scope.claim(key, ALL));
      assert.equal(granted.event, "acquired", JSON.stringify(granted.reason));
      assert.equal(granted.grant.takeovers, 0);
      hub.complete(0, machine, "any", result);
      const { event, record } = await next();
      assert.deepEqual([event, record.state, record.tag], ["completed", "done", "any"]);
      assert.deepEqual(record.result, result);

      const [replayed] = await ask(scope.claim(key, ALL));
      assert.equal(replayed.event, "replayed", JSON.stringify(replayed.reason));
      assert.deepEqual(new Uint8Array(replayed.record.result), result);
      assert.equal(replayed.record.fence, granted.grant.fence);
      const [refused] = await ask(scope.claim(key, ALL.slice(1)));
      assert.equal(refused.reason.kind, "mismatch");
    }

    const [issued] = await ask(scope.issue("token", ALL, 60_000));
    assert.deepEqual([issued.event, issued.record.state], ["completed", "issued"]);
    const [other] = await ask(scope.consume("token", ALL.slice(1)));
    assert.equal(other.reason.kind, "mismatch");
    const [consumed] = await ask(scope.consume("token", ALL));
    assert.equal(consumed.event, "acquired");
    const [busy] = await ask(scope.consume("token", ALL));
    assert.equal(busy.reason.kind, "in-progress");
    assert.ok(busy.cause.retryAfter > 0 && busy.cause.retryAfter <= 30_000, String(busy.cause.retryAfter));

    const [updated] = await ask(scope.update("stock", "first", 0, ALL, "", ALL));
    assert.deepEqual([updated.event, updated.record.version], ["completed", 1]);
    const [conflict] = await ask(scope.update("stock", "second", 0, ALL, "", ALL));
    assert.deepEqual([conflict.reason.kind, conflict.cause.record.version], ["conflict", 1]);
    assert.deepEqual(conflict.cause.record.result, ALL);
    const [looked] = await ask(scope.look("stock"));
    assert.deepEqual([looked.record.state, looked.record.guard], ["value", 1]);
    const [forgotten] = await ask(scope.forget("stock", looked.record.guard));
    assert.deepEqual([forgotten.event, forgotten.record], ["looked", null]);
  });
}

function bytes(text) {
  return Uint8Array.from(Buffer.from(text));
}
