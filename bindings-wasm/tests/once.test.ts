/** Functions that run once for a key, on a real Redis. */

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";

import { type Client, ConfigError, type Idempotency, InProgress, Refused, StoredError, connect } from "fencepost";

import { type NodeRedisClient, fresh, nodeRedisAt } from "./support/backends.js";
import { isConfig } from "./support/errors.js";
import { address } from "./support/servers.js";

interface Order {
  readonly id: string;
  readonly amount: number;
}

class Declined extends Error {}
class Unreachable extends Error {}

const unreadable = (says: RegExp) => (error: unknown) =>
  error instanceof Refused && error.kind === "corrupt-record" && says.test(error.message);

describe("once", { concurrency: false }, () => {
  let operator: NodeRedisClient;
  let client: Client;
  let payments: Idempotency;
  let runs = 0;

  const key = (order: Order) => order.id;
  const order = { id: "order-17", amount: 5 };
  const charge = (order: Order) => {
    runs += 1;
    return Promise.resolve({ paid: order.amount, run: runs });
  };

  before(async () => {
    operator = nodeRedisAt(address("FENCEPOST_REDIS"));
    await operator.connect();
    client = await connect(`redis://${address("FENCEPOST_REDIS")}`);
  });
  beforeEach(() => {
    payments = client.idempotency(fresh());
    runs = 0;
  });
  after(async () => {
    await client.close();
    await operator.flushDb();
    operator.destroy();
  });

  it("runs once, and gives its value to all calls", async () => {
    const pay = payments.once(charge, { key });
    const value: { paid: number; run: number } = await pay(order);
    assert.deepEqual(value, { paid: 5, run: 1 });
    assert.deepEqual(await pay.outcome(order), { value: { paid: 5, run: 1 }, replayed: true });
    assert.deepEqual(await pay.outcome({ id: "order-18", amount: 6 }), { value: { paid: 6, run: 2 }, replayed: false });
    const claim = await payments.claim("order-17");
    assert.deepEqual([claim.tag, new TextDecoder().decode(claim.result ?? undefined)], ["json", '{"paid":5,"run":1}']);
  });

  it("has the parameters of its function, however few the key takes", async () => {
    const noted = payments.once((order: Order, note?: string, ...more: number[]) => [note ?? order.id, ...more], {
      key: (order) => order.id,
      fingerprint: ({ amount }) => String(amount),
    });
    assert.deepEqual(await noted(order, "a note", 1, 2), ["a note", 1, 2]);
    assert.deepEqual(await noted(order), ["a note", 1, 2]);
    // @ts-expect-error: a number is not a note.
    assert.ok(() => noted(order, 7));
    const nightly = payments.once(<T>(day: T) => [day], { key: () => "nightly" });
    const days: unknown[] = await nightly("monday");
    assert.deepEqual(days, ["monday"]);
  });

  it("runs once for calls at the same time, of several clients", async () => {
    const other = await connect(`redis://${address("FENCEPOST_REDIS")}`);
    const pays = [client, other].map((one) => one.idempotency(payments.scope).once(charge, { key }));
    const values = await Promise.all([...pays, ...pays].map((pay) => pay(order)));
    assert.deepEqual(values, Array(4).fill({ paid: 5, run: 1 }));
    await other.close();
  });

  it("says at once that a call runs, if it is not to wait", async () => {
    const claim = await payments.claim("order-17");
    await assert.rejects(payments.once(charge, { key, wait: false })(order), InProgress);
    await assert.rejects(payments.once(charge, { key, timeout: 2000 })(order), InProgress);
    await claim.release();
    assert.equal(runs, 0);
  });

  it("detects a key that is used for another operation", async () => {
    const pay = payments.once(charge, { key, fingerprint: (order) => String(order.amount) });
    await pay(order);
    await assert.rejects(
      pay({ ...order, amount: 6 }),
      (error) => error instanceof Refused && error.kind === "mismatch",
    );
  });

  it("leaves, releases or stores what the function throws", async () => {
    let error: Error = new Unreachable("no route");
    const fail: (id: string) => Promise<never> = () => Promise.reject(error);
    const pay = payments.once(fail, {
      key: (id) => id,
      releaseOn: [Unreachable],
      storeOn: [Declined],
    });
    await assert.rejects(pay("released"), /no route/);
    assert.equal((await payments.claim("released", { wait: false })).takeovers, 0);

    error = new Error("what now?");
    await assert.rejects(pay("left"), /what now/);
    assert.equal((await payments.claim("left", { wait: false })).takeovers, 1);

    error = new Declined("no money \ud800");
    await assert.rejects(pay("stored"), Declined);
    error = new Error("it must not run again");
    await assert.rejects(pay("stored"), (stored) => {
      assert.ok(stored instanceof StoredError);
      assert.deepEqual([stored.message, stored.code, stored.kind], ["no money \ufffd", 507, "stored-error"]);
      return true;
    });
    await assert.rejects(pay.outcome("stored"), StoredError);
  });

  it("stores the beginning of an error's text that is too long", async () => {
    const text = "€".repeat(400_000);
    const fail = payments.once(() => Promise.reject(new Declined(text)), { key: () => "long", storeOn: [Declined] });
    await assert.rejects(fail(), Declined);
    await assert.rejects(fail(), (stored) => {
      assert.ok(stored instanceof StoredError);
      assert.equal(stored.message, `${text.slice(0, 333_332)}…`);
      return true;
    });
  });

  it("takes the nearest class of an error that belongs to classes in both lists", async () => {
    // This class matches all errors of a library that marks them, also those with their own class.
    class Marked extends Error {
      static override [Symbol.hasInstance](error: unknown): boolean {
        return error instanceof Error && error.message.startsWith("E:");
      }
    }
    class Unmarked extends Error {
      static override [Symbol.hasInstance](error: unknown): boolean {
        return error instanceof Error;
      }
    }
    let error: Error = new Unreachable("E: no route");
    const fail: (id: string) => Promise<never> = () => Promise.reject(error);
    const pay = payments.once(fail, {
      key: (id) => id,
      releaseOn: [Unreachable],
      storeOn: [Marked],
    });
    await assert.rejects(pay("released"), /no route/);
    assert.equal((await payments.claim("released", { wait: false })).takeovers, 0);

    const give = payments.once(fail, {
      key: (id) => id,
      releaseOn: [Marked],
      storeOn: [Declined],
    });
    error = new Declined("E: no money");
    await assert.rejects(give("stored"), Declined);
    await assert.rejects(give("stored"), StoredError);

    error = new Error("E: of neither class");
    const leave = payments.once(fail, {
      key: (id) => id,
      releaseOn: [Marked],
      storeOn: [Unmarked],
    });
    await assert.rejects(leave("left"), /neither/);
    assert.equal((await payments.claim("left", { wait: false })).takeovers, 1);
  });

  it("refuses a value that cannot be stored before anything is sent, and leaves the claim", async () => {
    const circle: { self?: object } = {};
    circle.self = circle;
    const values: [string, unknown, RegExp][] = [
      ["a function", () => 1, /a function/],
      ["a BigInt", 1n, /BigInt/],
      ["a circle", circle, /circular/i],
      ["too long", "x".repeat(1_000_000), /1000000 bytes/],
      ["not a number", { total: NaN }, /its "total" is NaN, which JSON cannot store/],
      ["an infinity", [1, -Infinity], /its "1" is -Infinity/],
      ["a map", new Map([["a", 1]]), /of the class Map/],
      ["a set inside", { all: [new Set([1])] }, /its "0" is an object of the class Set/],
      ["bytes", Uint8Array.of(1), /of the class Uint8Array/],
      ["a Buffer", { body: Buffer.of(1) }, /its "body" is an object of the class Uint8Array/],
      ["an iterator", [1].values(), /of the class Array Iterator/],
      ["a promise inside", { later: Promise.resolve(1) }, /its "later" is an object of the class Promise/],
      ["an error", new Error("declined"), /of the class Error/],
      ["a method", { total: () => 1 }, /its "total" is a function/],
      ["no date", [new Date(NaN)], /its "0" is an object of the class Date/],
    ];
    for (const [name, value, says] of values) {
      const give = payments.once(() => value, { key: () => name });
      await assert.rejects(give(), (error) => error instanceof ConfigError && says.test(error.message));
      assert.equal((await payments.claim(name, { wait: false })).takeovers, 1);
    }
  });

  it("stores what JSON has, and what a class makes of its objects", async () => {
    class Money {
      constructor(readonly cents: number) {}
      toJSON(): string {
        return `${this.cents} ct`;
      }
    }
    class Order {
      id = "17";
      note = undefined;
    }
    const value = { day: new Date(0), money: new Money(5), order: new Order(), none: null, list: [true, "a", -0.5] };
    const give = payments.once((): unknown => value, { key: () => "mixed" });
    await give();
    const stored = { day: "1970-01-01T00:00:00.000Z", money: "5 ct", order: { id: "17" }, none: null };
    assert.deepEqual(await give(), { ...stored, list: [true, "a", -0.5] });
  });

  it("stores nothing as null, and what a codec makes of values", async () => {
    const nothing = payments.once(() => undefined, { key: () => "nothing" });
    await nothing();
    assert.deepEqual(await nothing.outcome(), { value: null, replayed: true });

    const codec = {
      tag: "date",
      encode: (date: Date) => Uint8Array.of(255, date.getDate()),
      decode: (result: Uint8Array) => new Date(2026, 0, result[1]),
    };
    const day = new Date(2026, 0, 7);
    const today = payments.once(() => day, { key: () => "day", codec });
    assert.deepEqual([await today(), await today()], [day, day]);
    const reader = payments.once(() => 1, { key: () => "day" });
    await assert.rejects(reader(), unreadable(/tag is "date", and the function's is "json"/));
    await payments.register("odd", "{", { tag: "json" });
    await assert.rejects(payments.once(() => 1, { key: () => "odd" })(), unreadable(/JSON/));
  });

  it("gives the result of the attempt that was quicker", async () => {
    const brief = client.idempotency(payments.scope, { lease: 1000, renew: false });
    for (const end of ["returns", "throws"]) {
      const slow = brief.once(
        async () => {
          // It waits for the end of the lease of this attempt.
          const other = await payments.claim(end);
          await other.complete('"theirs"', { tag: "json" });
          if (end === "throws") throw new Declined("mine");
          return "mine";
        },
        { key: () => end, storeOn: [Declined] },
      );
      assert.deepEqual(await slow.outcome(), { value: "theirs", replayed: true });
    }
  });

  it("keeps this, and hands on all arguments", async () => {
    const shop = {
      name: "shop",
      sell: payments.once(
        function (this: { name: string }, item: string, count: number) {
          return `${this.name}: ${count} ${item}`;
        },
        { key: (item, count) => `${item}-${count}` },
      ),
    };
    assert.equal(await shop.sell("hats", 2), "shop: 2 hats");
  });

  it("refuses what makes no sense", async () => {
    const says = (kind: string, text: RegExp, options: object, run: unknown = charge) => {
      assert.throws(() => payments.once(run as never, options as never), isConfig(kind, text));
    };
    says("unreadable-settings", /option key/, {});
    says("unreadable-settings", /a function/, { key }, "charge");
    says("unknown-option", /kee/, { kee: key });
    says("unreadable-settings", /releaseOn/, { key, releaseOn: Error });
    says("unreadable-settings", /storeOn/, { key, storeOn: ["Error"] });
    says("unreadable-settings", /storeOn/, { key, storeOn: [() => Error] });
    const both = (one: string, other: string) => RegExp(`releaseOn has ${one} and storeOn has ${other}`);
    says("invalid-option", both("Declined", "Declined"), { key, releaseOn: [Declined], storeOn: [Declined] });
    says("invalid-option", both("Error", "Declined"), { key, releaseOn: [RangeError, Error], storeOn: [Declined] });
    says("invalid-option", both("Declined", "Error"), { key, releaseOn: [Declined], storeOn: [RangeError, Error] });
    says("unreadable-settings", /codec/, { key, codec: { tag: "error", encode: String, decode: String } });
    const pay = payments.once(charge, { key: () => 17 as never });
    await assert.rejects(pay(order), isConfig("unreadable-settings", /key is 17/));
    assert.equal(runs, 0);
  });
});
