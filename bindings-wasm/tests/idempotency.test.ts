/** Idempotent operations, on a real Redis. */

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { inspect } from "node:util";

import {
  type Claim,
  type Client,
  Conflict,
  type Idempotency,
  type IdempotencyOptions,
  InProgress,
  Indeterminate,
  ClaimLost,
  Mismatch,
  NotAcquired,
  Refused,
  connect,
  fromRedis,
} from "fencepost";
import { Redis } from "ioredis";

import { type NodeRedisClient, fresh, nodeRedisAt } from "./support/backends.js";
import { isConfig, isMisuse } from "./support/errors.js";
import { address, eventually } from "./support/servers.js";

const refused =
  (kind: string, type = Refused) =>
  (error: unknown) =>
    error instanceof type && error.kind === kind;
const lost = (kind: string) => (error: unknown) => error instanceof ClaimLost && error.kind === kind;
const text = (bytes: Uint8Array | null) => bytes && new TextDecoder().decode(bytes);

/** All values of a byte, in an order that is not valid UTF-8. */
const ALL = Uint8Array.from({ length: 256 }, (_, value) => 255 - value);

/**
 * A lease in ms: short enough that a claim can be lost during a test, and long enough for a claim on a busy machine.
 */
const BRIEF = 1000;

describe("idempotency", { concurrency: false }, () => {
  let operator: NodeRedisClient;
  let client: Client;
  let scope: string;

  const payments = (options?: IdempotencyOptions, of = client) => of.idempotency(scope, options);
  const busy = async (operations: Idempotency, key: string) => {
    await assert.rejects(operations.claim(key, { wait: false }), InProgress);
  };

  before(async () => {
    operator = nodeRedisAt(address("FENCEPOST_REDIS"));
    await operator.connect();
    client = await connect(`redis://${address("FENCEPOST_REDIS")}`);
  });
  beforeEach(() => {
    scope = fresh();
  });
  after(async () => {
    await client.close();
    await operator.flushDb();
    operator.destroy();
  });

  it("stores a result once, and gives it to all later claims", async () => {
    const operations = payments();
    const claim = await operations.claim("order-17", { fingerprint: "print" });
    assert.deepEqual([claim.replayed, claim.result, claim.tag, claim.takeovers], [false, null, null, 0]);
    assert.ok(claim.fence > 0n && claim.isValid && claim.remaining > 0);
    await claim.extend();
    await claim.complete(ALL, { tag: "bytes" });
    assert.deepEqual([claim.replayed, claim.result, claim.isValid], [false, ALL, false]);
    await assert.rejects(claim.complete("again"), isMisuse("not-held", /the claim has been ended/));
    await claim[Symbol.asyncDispose]();

    const again = await operations.claim("order-17", { fingerprint: "print" });
    assert.deepEqual([again.replayed, again.tag, again.fence, again.isValid], [true, "bytes", claim.fence, false]);
    assert.deepEqual(again.result, ALL);
    await assert.rejects(again.complete("other"), isMisuse("not-held"));
    await again[Symbol.asyncDispose]();
    await assert.rejects(operations.claim("order-17", { fingerprint: "other" }), refused("mismatch", Mismatch));
  });

  it("takes bytes through ioredis, too", async () => {
    const connection = new Redis(`redis://${address("FENCEPOST_REDIS")}`);
    const other = fromRedis(connection);
    await (await payments().claim("order-17")).complete(ALL);
    const claim = await payments({}, other).claim("order-17");
    assert.deepEqual(new Uint8Array(claim.result ?? []), ALL);
    await other.close();
    connection.disconnect();
  });

  it("has three ends", async () => {
    const operations = payments();
    await (await operations.claim("released")).release();
    assert.equal((await operations.claim("released", { wait: false })).takeovers, 0);
    await (await operations.claim("left")).leave();
    assert.equal((await operations.claim("left", { wait: false })).takeovers, 1);
  });

  it("asks the operator what became of an operation", async () => {
    const operations = payments({ onLeaseEnd: "indeterminate" });
    await (await operations.claim("order-17")).leave();
    await assert.rejects(operations.claim("order-17"), refused("indeterminate", Indeterminate));
    const seen = await operations.look("order-17");
    assert.ok(seen !== null);
    assert.deepEqual([seen.state, seen.policy], ["running", "indeterminate"]);
    await assert.rejects(operations.settle("order-17", { ...seen, guard: 1 }, "x"), refused("record-changed"));
    const { record } = await operations.settle("order-17", seen, "paid", { tag: "text" });
    assert.deepEqual([record.state, record.tag, text(record.result)], ["done", "text", "paid"]);
    const claim = await operations.claim("order-17");
    assert.deepEqual([claim.replayed, text(claim.result)], [true, "paid"]);
    await assert.rejects(operations.forget("order-17", seen), refused("record-changed"));
    const present = await operations.look("order-17");
    assert.ok(present !== null);
    await operations.forget("order-17", present);
    assert.equal(await operations.look("order-17"), null);
  });

  it("waits for the attempt that runs", async () => {
    const operations = payments();
    const first = await operations.claim("order-17");
    await assert.rejects(operations.claim("order-17", { wait: false }), (error) => {
      assert.ok(error instanceof InProgress && error instanceof NotAcquired);
      assert.deepEqual([error.code, error.kind, error.name], [317, "in-progress", "InProgress"]);
      assert.ok(error.retryAfter !== null && error.retryAfter > 0 && error.retryAfter <= 30_000);
      return true;
    });
    await assert.rejects(operations.claim("order-17", { timeout: 2000 }), InProgress);
    const controller = new AbortController();
    const aborted = operations.claim("order-17", { signal: controller.signal });
    controller.abort(new Error("enough"));
    await assert.rejects(aborted, /enough/);
    const waits = operations.claim("order-17");
    await first.complete("done");
    const second = await waits;
    assert.deepEqual([second.replayed, text(second.result)], [true, "done"]);
  });

  it("leaves a claim that is not ended: by a block, a close, the garbage collector", async () => {
    const operations = payments();
    const block = await operations.claim("block");
    await block[Symbol.asyncDispose]();
    assert.equal((await operations.claim("block", { wait: false })).takeovers, 1);

    const other = await connect(`redis://${address("FENCEPOST_REDIS")}`);
    const held = await payments({}, other).claim("close");
    await busy(operations, "close");
    await other.close();
    assert.ok(held.signal.aborted);
    assert.equal((await operations.claim("close", { wait: false })).takeovers, 1);

    await operations.claim("dropped");
    await eventually(60_000, "the end of the dropped claim", async () => {
      (globalThis as { gc?: () => void }).gc?.();
      const claim = await operations.claim("dropped", { wait: false }).catch(() => null);
      return claim?.takeovers === 1;
    });
  });

  it("keeps a claim without a reference while its end is under way", async () => {
    const operations = payments();
    const end = (await operations.claim("order-17")).complete("done");
    (globalThis as { gc?: () => void }).gc?.();
    await end;
    assert.equal((await operations.claim("order-17")).replayed, true);
  });

  /** A claim that is lost because its client has not renewed it. */
  async function lapsed(operations: Idempotency, key: string): Promise<Claim> {
    const claim = await operations.claim(key);
    const reason = await claim.lost;
    assert.ok(lost("lease-ended")(reason), String(reason));
    assert.ok(claim.signal.aborted);
    assert.equal(claim.isValid, false);
    return claim;
  }

  it("may store a result after the claim was lost, unless another attempt has claimed", async () => {
    const brief = payments({ lease: BRIEF, renew: false });
    const late = await lapsed(brief, "late");
    await late.complete("late, but alone");
    assert.deepEqual([late.replayed, text(late.result)], [false, "late, but alone"]);
    await late[Symbol.asyncDispose]();

    const superseded = await lapsed(brief, "superseded");
    const next = await payments().claim("superseded");
    assert.equal(next.takeovers, 1);
    await assert.rejects(superseded.complete("mine"), lost("superseded"));
    await assert.rejects(superseded.complete("mine"), lost("superseded"));
    await assert.rejects(superseded[Symbol.asyncDispose](), lost("superseded"));
    await superseded[Symbol.asyncDispose]();
    await next.complete("theirs");

    const slow = await lapsed(brief, "slow");
    await (await payments().claim("slow")).complete("theirs");
    await slow.complete("mine");
    assert.deepEqual([slow.replayed, text(slow.result)], [true, "theirs"]);
  });

  it("reports a record that is gone", async () => {
    const operations = payments();
    const claim = await operations.claim("order-17");
    const [key] = await operator.keys(`*${scope}/order-17}`);
    assert.ok(key);
    await operator.del(key);
    await assert.rejects(claim.extend(), lost("deleted"));
    // There is no record, as if nothing had happened.
    await claim.release();
  });

  it("goes on with a claim whose end the server refuses", async () => {
    const [user, password] = [fresh(), fresh()];
    const rights = (...words: string[]) => operator.sendCommand(["ACL", "SETUSER", user, ...words]);
    await rights("on", `>${password}`, "~*", "&*", "+@all");
    const limited = await connect(`redis://${user}:${password}@${address("FENCEPOST_REDIS")}`);
    try {
      const claim = await payments({}, limited).claim("order-17");
      await rights("-evalsha", "-eval");
      await assert.rejects(claim.complete("done"), refused("no-permission"));
      await assert.rejects(claim.leave(), refused("no-permission"));
      assert.ok(claim.isValid && !claim.signal.aborted);
      await busy(payments(), "order-17");
      await rights("+evalsha", "+eval");
      await claim.complete("done");
      assert.equal((await payments().claim("order-17")).replayed, true);
    } finally {
      await limited.close();
      await operator.sendCommand(["ACL", "DELUSER", user]);
    }
  });

  it("refuses a result that is too long, and the claim goes on", async () => {
    const claim = await payments().claim("order-17");
    await assert.rejects(claim.complete(new Uint8Array(1_000_001)), isConfig("invalid-option", /1000000 bytes/));
    await assert.rejects(claim.complete("x", { tag: "x".repeat(256) }), isConfig("invalid-option", /tag/));
    await assert.rejects(claim.complete(17 as never), isConfig("unreadable-settings", /result is 17/));
    await assert.rejects(claim.complete("x", { tagg: "x" } as never), isConfig("unknown-option", /tagg/));
    assert.ok(claim.isValid);
    await claim.complete(new Uint8Array(1_000_000).fill(200));
  });

  it("hands out tokens, which are used once", async () => {
    const operations = payments();
    await operations.issue("token-1", { binding: "alice", life: 60_000 });
    await assert.rejects(operations.consume("token-1", { binding: "bob" }), refused("mismatch"));
    await assert.rejects(operations.consume("token-2", { binding: "alice" }), refused("unknown-token"));
    const claim = await operations.consume("token-1", { binding: "alice", fingerprint: ALL, wait: false });
    await claim.complete("done");
    assert.equal((await operations.consume("token-1", { binding: "alice", fingerprint: ALL })).replayed, true);
    await operations.issue("token-3", { binding: "alice" });
    const { replayed } = await operations.register("token-3", "burnt", { binding: "alice" });
    assert.equal(replayed, false);
  });

  it("registers numbers, and updates values", async () => {
    const operations = payments();
    const first = await operations.register("number-7", "mine", { tag: "text" });
    const second = await operations.register("number-7", "other", { tag: "text" });
    assert.deepEqual([first.replayed, second.replayed, text(second.record.result)], [false, true, "mine"]);

    const update = { operation: "sell-1", version: 0 };
    assert.equal((await operations.update("stock", "41", update)).record.version, 1);
    assert.equal((await operations.update("stock", "41", update)).replayed, true);
    await assert.rejects(operations.update("stock", "40", { operation: "sell-2", version: 0 }), (error) => {
      assert.ok(error instanceof Conflict && error.kind === "conflict");
      assert.deepEqual([error.record?.version, text(error.record?.result ?? null)], [1, "41"]);
      return true;
    });
  });

  it("derives keys for steps at other services", async () => {
    const operations = payments();
    const claim = await operations.claim("order-17");
    assert.match(claim.derive("charge"), /^[0-9a-f]{32}$/);
    assert.equal(claim.derive("charge"), operations.derive("order-17", "charge"));
    assert.notEqual(claim.derive("charge"), claim.derive("refund"));
    await claim.release();
  });

  it("shows itself in logs", async () => {
    const claim = await payments().claim("order-17");
    assert.match(
      inspect(claim),
      /Claim \{\s+key: 'order-17',\s+fence: \d+n,\s+takeovers: 0,\s+replayed: false,\s+isValid: true/,
    );
    assert.equal((JSON.parse(JSON.stringify(claim)) as { fence: string }).fence, String(claim.fence));
    await claim.release();
  });

  it("is on memory: too", async () => {
    await using other = await connect("memory:");
    const claim = await other.idempotency("payments", { lease: 30_000 }).claim("order-17");
    await claim.complete(new Uint8Array([0, 255]));
    const again = await other.idempotency("payments").claim("order-17");
    assert.deepEqual([again.replayed, again.result], [true, new Uint8Array([0, 255])]);
  });

  it("refuses what makes no sense", async () => {
    const operations = payments();
    assert.throws(() => client.idempotency(""), isConfig("invalid-option", /scope/));
    assert.throws(() => client.idempotency(7 as never), isConfig("unreadable-settings", /scope is 7/));
    assert.throws(() => payments({ lease: 1 }), isConfig("lease-too-short", /lease/));
    assert.throws(() => payments({ onLeaseEnd: "stop" as never }), isConfig("invalid-option", /onLeaseEnd is "stop"/));
    assert.throws(() => payments({ ttl: 5000 } as never), isConfig("unknown-option", /"ttl".*onLeaseEnd/));
    assert.throws(() => payments({ scope: "x" } as never), isConfig("unknown-option", /sets it itself/));
    await assert.rejects(operations.claim(""), isConfig("invalid-option", /key/));
    await assert.rejects(operations.claim(17 as never), isConfig("unreadable-settings", /key is 17/));
    await assert.rejects(operations.claim("x", { timeout: 0 }), isConfig("not-positive", /wait: false/));
    await assert.rejects(
      operations.claim("x", { timeout: 9, wait: false }),
      isConfig("unreadable-settings", /no timeout/),
    );
    await assert.rejects(operations.claim("x", { wait: 1 as never }), isConfig("unreadable-settings", /wait/));
    await assert.rejects(operations.claim("x", { tmeout: 9 } as never), isConfig("unknown-option", /tmeout/));
    await assert.rejects(operations.consume("x", {} as never), isConfig("unreadable-settings", /binding/));
    await assert.rejects(operations.consume("x", undefined as never), isConfig("unreadable-settings", /options/));
    await assert.rejects(operations.settle("x", null as never, "x"), isConfig("unreadable-settings", /look/));
    await assert.rejects(operations.update("x", "y", {} as never), isConfig("unreadable-settings", /operation/));
    assert.equal((await operator.keys(`*${scope}*`)).length, 0);

    const closed = await connect(`redis://${address("FENCEPOST_REDIS")}`);
    const orphans = payments({}, closed);
    await closed.close();
    await assert.rejects(orphans.claim("x"), isMisuse("client-closed"));
    assert.throws(() => payments({}, closed), isMisuse("client-closed"));
  });
});
