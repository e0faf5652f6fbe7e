/** ZooKeeper's other kinds of locks: in memory, which is a model of ZooKeeper, and on the real server. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { type Client, ConfigError, Election, type Grant, type Lock, Refused, connect } from "fencepost";
import zookeeper from "node-zookeeper-client";

import { type ZkClient, drop, fresh, memory, zk, zkAt, zooKeeper } from "./support/backends.js";
import { isConfig } from "./support/errors.js";
import { onPairs } from "./support/pairs.js";
import { BRIEF, address, eventually, within } from "./support/servers.js";

const SOON = 30_000;

async function held(lock: Lock): Promise<Grant> {
  const grant = await lock.tryAcquire();
  assert.ok(grant, `${lock.name} is free`);
  return grant;
}

for (const make of [memory, zooKeeper]) {
  describe(`recipes on ${make.name}`, { concurrency: false }, () => {
    const on = onPairs(make);

    for (const layout of ["curator", "kazoo"] as const) {
      on(`readers share, and a writer is alone: ${layout}`, async (a, b) => {
        const name = fresh();
        const [one, other] = [a.readWriteLock(name, { layout }), b.readWriteLock(name, { layout })];
        assert.equal(one.name, name);
        const reading = [await held(one.reader), await held(other.reader)];
        assert.equal(await one.writer.tryAcquire(), null);
        const order: string[] = [];
        const noted = (who: string) => (grant: Grant) => {
          order.push(who);
          return grant;
        };
        const writing = other.writer.acquire().then(noted("writer"));
        // No later reader gets the lock before a writer that waits.
        await eventually(SOON, "the writer in the line", async () => {
          const grant = await one.reader.tryAcquire();
          await grant?.release();
          return grant === null;
        });
        const late = one.reader.acquire().then(noted("reader"));
        await Promise.all(reading.map((grant) => grant.release()));
        const writer = await within(SOON, "the writer", writing);
        assert.equal(await one.reader.tryAcquire(), null);
        assert.ok(writer.fence !== null && reading.every(({ fence }) => fence !== null));
        await writer.release();
        await (await within(SOON, "the reader", late)).release();
        assert.deepEqual(order, ["writer", "reader"]);
      });
    }

    on("candidates lead one after another", async (a, b) => {
      const name = fresh();
      const [one, other] = [a.election(name, { identifier: "one" }), b.election(name)];
      assert.ok(one instanceof Election);
      const term = await one.campaign();
      const next = other.campaign();
      assert.equal(await other.campaign({ timeout: BRIEF }), null);
      await term.release();
      const second = await within(SOON, "the second term", next);
      assert.ok(second.fence !== null && term.fence !== null && second.fence > term.fence);
      await second.release();
      assert.equal(await one.using((grant) => grant.isValid), true);
    });

    for (const layout of ["curator", "kazoo"] as const) {
      on(`a semaphore has so many permits: ${layout}`, async (a, b) => {
        const name = fresh();
        const [one, other] = [a.semaphore(name, 2, { layout }), b.semaphore(name, 2, { layout })];
        const permits = [await held(one), await held(other)];
        assert.equal(await one.tryAcquire(), null);
        assert.equal(await other.acquire({ timeout: BRIEF }), null);
        const third = one.acquire();
        await permits[1]?.release();
        const granted = await within(SOON, "a permit", third);
        assert.notEqual(granted.fence, permits[0]?.fence);
        await granted.release();
        await permits[0]?.release();
      });

      on(`no more than the permits are used: ${layout}`, async (a, b) => {
        const name = fresh();
        let inside = 0;
        let most = 0;
        const work = async (client: Client) => {
          await client.semaphore(name, 3, { layout }).using(async () => {
            inside += 1;
            most = Math.max(most, inside);
            await new Promise((resolve) => setImmediate(resolve));
            inside -= 1;
          });
        };
        await within(60_000, "all turns", Promise.all([a, b, a, b, a, b, a, b, a, b].map(work)));
        assert.ok(most <= 3, `${most} inside`);
      });
    }

    on("each layout excludes", async (a, b) => {
      for (const options of [
        { layout: "curator" },
        { layout: "kazoo" },
        { layout: "plain" },
        { layout: "plain", nodePrefix: "n-" },
      ] as const) {
        const name = fresh();
        const grant = await a.lock(name, options).acquire();
        assert.equal(await b.lock(name, options).tryAcquire(), null);
        const next = b.lock(name, options).acquire();
        await grant.release();
        await (await within(SOON, "the lock", next)).release();
        assert.equal(grant.mixedLayouts, null);
      }
    });

    on("a contender of another layout is waited for, and reported", async (a, b) => {
      const name = fresh();
      const foreign = await a.lock(name, { layout: "kazoo" }).acquire();
      assert.equal(await b.lock(name).tryAcquire(), null);
      const next = b.lock(name).acquire();
      // Requests of one session are carried out in their order: after this one, the waiting contender is in the line.
      assert.equal(await b.lock(name).tryAcquire(), null);
      await foreign.release();
      const grant = await within(SOON, "the lock", next);
      assert.match(grant.mixedLayouts ?? "", /__lock__\d{10}$/);
      await grant.release();
    });

    on("lists the holders and the waiters", async (a, b) => {
      const name = fresh();
      const lock = a.lock(name, { identifier: "till 1" });
      assert.deepEqual(await lock.contenders(), []);
      const early = Date.now();
      const grant = await lock.acquire();
      const next = b.lock(name, { identifier: "till 2" }).acquire();
      // Requests of one session are carried out in their order: after this one, the waiting contender is in the line.
      assert.equal(await b.lock(name).tryAcquire(), null);
      const [one, other, ...more] = await lock.contenders();
      assert.ok(one !== undefined && other !== undefined && more.length === 0);
      assert.deepEqual([one.identifier, one.holds, one.shared], ["till 1", true, false]);
      assert.deepEqual([other.identifier, other.holds, other.shared], ["till 2", false, false]);
      assert.equal(one.fence, grant.fence);
      assert.ok(one.fence < other.fence && one.session !== other.session && one.session !== 0n);
      assert.ok(
        make === memory ||
          (one.since !== null && other.since !== null && one.since >= early - 1 && other.since <= Date.now() + 1),
      );
      assert.match(one.node, new RegExp(`/${name}/.*lock-\\d{10}$`));
      await grant.release();
      await (await within(SOON, "the lock", next)).release();
    });

    on("asks a holder for the lock", async (a, b) => {
      const name = fresh();
      const grant = await a.lock(name, { revocable: true }).acquire();
      const lock = b.lock(name);
      const [holder] = await lock.contenders();
      assert.ok(holder);
      const asked = grant.revokeRequested;
      const before = grant.isRevokeRequested;
      await lock.revoke(holder);
      await within(SOON, "the revocation request", asked);
      assert.deepEqual([before, grant.isRevokeRequested, grant.isValid], [false, true, true]);
      await grant.release();
      await assert.rejects(lock.revoke(holder), (error) => error instanceof Refused && error.kind === "no-contender");
    });

    on("breaks a holder, and a waiter", async (a, b) => {
      const name = fresh();
      const lock = b.lock(name);
      // A contender that is not revocable checks its node only when the session is confirmed: in memory, every 20 s.
      const grant = await a.lock(name, { revocable: true }).acquire();
      const next = lock.acquire();
      const [holder] = await lock.contenders();
      assert.ok(holder?.holds);
      await lock.breakContender(holder);
      assert.equal((await within(SOON, "the loss", grant.lost)).kind, "deleted");
      const granted = await within(SOON, "the lock", next);
      // The node alone is not enough to identify it: another fence means another contender.
      const [now] = await lock.contenders();
      assert.equal(now?.fence, granted.fence);
      assert.ok(now);
      const gone = lock.breakContender({ ...now, fence: now.fence - 1n });
      await assert.rejects(gone, (error) => error instanceof Refused && error.kind === "no-contender");
      assert.equal(granted.isValid, true);
      await granted.release();
    });

    on("lists the holder of each permit", async (a) => {
      const name = fresh();
      const { reader, writer } = a.readWriteLock(name);
      const reading = [await reader.acquire(), await reader.acquire()];
      const writing = writer.acquire();
      const shares = (await reader.contenders()).map(({ holds, shared }) => [holds, shared]);
      assert.deepEqual(shares, [[true, true], [true, true], [false, false]]); // prettier-ignore
      await Promise.all(reading.map((grant) => grant.release()));
      await (await within(SOON, "the writer", writing)).release();
      const presses = a.semaphore(fresh(), 2);
      const permits = [await presses.acquire(), await presses.acquire()];
      const third = presses.acquire();
      await eventually(SOON, "the third in the line", async () => (await presses.contenders()).length >= 3);
      const holders = (await presses.contenders()).filter(({ holds }) => holds).map(({ fence }) => fence);
      assert.deepEqual(new Set(holders), new Set(permits.map(({ fence }) => fence)));
      await Promise.all(permits.map((grant) => grant.release()));
      await (await within(SOON, "the third", third)).release();
      const [leader] = await a.election(fresh()).using(async () => a.election(name).contenders());
      assert.equal(leader, undefined);
    });

    on("a node that is no contender is an error at once", async (a) => {
      const lock = a.lock(fresh());
      const invalid = (says: RegExp) => isConfig("invalid-option", says);
      await assert.rejects(lock.revoke({} as never), invalid(/fence/));
      await assert.rejects(lock.revoke(null as never), isConfig("unreadable-settings", /contender/));
      await assert.rejects(
        lock.breakContender({ node: "/elsewhere/x", fence: 1n } as never),
        invalid(/node.*contenders/),
      );
      await assert.rejects(
        lock.breakContender({ node: 7, fence: 1n } as never),
        isConfig("unreadable-settings", /node/),
      );
      await assert.rejects(
        lock.breakContender({ node: "/x", fence: 1 } as never),
        isConfig("unreadable-settings", /fence/),
      );
    });

    on("many locks or none", async (a, b) => {
      const [one, other] = [fresh(), fresh()];
      const both = a.multiLock([one, other]);
      const turned = b.multiLock([other, one]);
      assert.equal(both.name, `${one}, ${other}`);
      const grant = await both.acquire();
      assert.equal(typeof grant.fence, "bigint");
      assert.equal(await b.lock(one).tryAcquire(), null);
      assert.equal(await b.lock(other).tryAcquire(), null);
      const next = turned.acquire();
      await grant.release();
      await (await within(SOON, "both locks", next)).release();
      // Another client holds one of them: the client gets none of them, and leaves no nodes.
      const single = await a.lock(other).acquire();
      assert.equal(await turned.tryAcquire(), null);
      const beside = await a.lock(one).acquire({ timeout: SOON });
      assert.ok(beside);
      await beside.release();
      await single.release();
      let inside = 0;
      const work = (lock: Lock) =>
        lock.using(async () => {
          inside += 1;
          assert.equal(inside, 1);
          await new Promise((resolve) => setImmediate(resolve));
          inside -= 1;
        });
      await within(60_000, "all turns", Promise.all([both, turned, b.lock(one), both, turned, both].map(work)));
      await assert.rejects(both.contenders(), isConfig("unknown-option", /inspect each of its locks/));
    });

    on("invalid multi-locks are errors at once", (a) => {
      const invalid = (says: RegExp) => isConfig("invalid-option", says);
      assert.throws(() => a.multiLock([]), invalid(/names.*64/));
      assert.throws(() => a.multiLock(Array.from({ length: 65 }, (_, index) => `n${index}`)), invalid(/65 names/));
      assert.throws(() => a.multiLock(["x", "y", "x"]), invalid(/names.*twice/));
      assert.throws(() => a.multiLock(["x", "a//b"]), isConfig("invalid-name", /a\/\/b/));
      assert.throws(() => a.multiLock(["x", 7 as never]), isConfig("unreadable-settings", /names/));
      assert.throws(() => a.multiLock("x" as never), isConfig("unreadable-settings", /names/));
      return Promise.resolve();
    });

    on("invalid options are errors at once", async (a) => {
      const invalid = (says: RegExp) => isConfig("invalid-option", says);
      for (const permits of [0, -1, 2 ** 32]) {
        assert.throws(() => a.semaphore("x", permits), invalid(/permits/), String(permits));
      }
      for (const permits of [1.5, NaN, "2", 2n, undefined]) {
        assert.throws(() => a.semaphore("x", permits as never), isConfig("unreadable-settings", /permits/));
      }
      assert.throws(() => a.lock("x", { layout: "zookeeper" as never }), invalid(/layout.*curator/));
      assert.throws(() => a.lock("x", { layout: 1 as never }), isConfig("unreadable-settings", /layout/));
      assert.throws(() => a.lock("x", { nodePrefix: "n-" }), invalid(/nodePrefix.*plain/));
      assert.throws(() => a.lock("x", { layout: "plain", nodePrefix: "a/b" }), ConfigError);
      assert.throws(() => a.readWriteLock("x", { layout: "plain" }), invalid(/layout.*plain/));
      assert.throws(() => a.semaphore("x", 2, { layout: "plain" }), invalid(/layout.*plain/));
      assert.throws(() => a.lock("x", { identifier: "ü".repeat(513) }), invalid(/identifier.*1024/));
      assert.throws(() => a.lock("x", { revocable: "yes" as never }), isConfig("unreadable-settings", /revocable/));
      assert.throws(() => a.election("x", { permits: 2 } as never), isConfig("unknown-option", /permits/));
      assert.throws(() => a.readWriteLock("x", { ttl: 100 } as never), isConfig("unknown-option", /ttl.*layout/));
      assert.throws(() => a.readWriteLock(""), isConfig("empty-name", /name/));
      await (await a.lock("x", { identifier: "ü".repeat(512), ttl: undefined }).acquire()).release();
    });
  });
}

describe("recipes on ZooKeeper's nodes", { concurrency: false }, () => {
  let operator: ZkClient;
  let client: Client;
  before(async () => {
    operator = await zkAt(address("FENCEPOST_ZOOKEEPER"), 30_000);
    client = await connect(`zk://${address("FENCEPOST_ZOOKEEPER")}/recipes?session_timeout=30000`);
  });
  after(async () => {
    await client.close();
    drop(operator);
  });

  const children = (path: string) => zk<string[]>((done) => operator.getChildren(path, done));
  const only = async (path: string) => {
    const [name, ...others] = await children(path);
    assert.ok(name !== undefined && others.length === 0, `one child of ${path}: ${name}, ${others.join()}`);
    return `${path}/${name}`;
  };

  for (const [title, make, shape] of [
    ["mutex, curator", (name) => client.lock(name), /^_c_[-0-9a-f]{36}-lock-\d{10}$/],
    ["mutex, kazoo", (name) => client.lock(name, { layout: "kazoo" }), /^[0-9a-f]{32}__lock__\d{10}$/],
    ["mutex, plain", (name) => client.lock(name, { layout: "plain", nodePrefix: "n-" }), /^n-\d{10}$/],
    ["reader, curator", (name) => client.readWriteLock(name).reader, /__READ__\d{10}$/],
    ["writer, curator", (name) => client.readWriteLock(name).writer, /__WRIT__\d{10}$/],
    ["reader, kazoo", (name) => client.readWriteLock(name, { layout: "kazoo" }).reader, /__rlock__\d{10}$/],
    ["election, curator", (name) => client.election(name), /-latch-\d{10}$/],
  ] as [string, (name: string) => Lock, RegExp][]) {
    it(`a contender is called as its peers call theirs: ${title}`, async () => {
      const name = fresh();
      await using grant = await make(name).acquire();
      const [node] = await children(`/recipes/${name}`);
      assert.match(node ?? "", shape);
      assert.equal(grant.isRevokeRequested, false);
    });
  }

  it("a node says whose it is", async () => {
    const name = fresh();
    const grant = await client.lock(name, { identifier: "till 7" }).acquire();
    const node = await only(`/recipes/${name}`);
    assert.equal(String(await zk<Buffer>((done) => operator.getData(node, done))), "till 7");
    await grant.release();
  });

  it("a revocation request is received", { timeout: 60_000 }, async () => {
    const name = fresh();
    const grant = await client.lock(name, { revocable: true }).acquire();
    const asked = grant.revokeRequested;
    const node = await only(`/recipes/${name}`);
    // In the form of Curator's Revoker.
    await zk((done) => operator.setData(node, Buffer.from("__REVOKE__"), done as never));
    await within(SOON, "the revocation request", asked);
    assert.equal(grant.isRevokeRequested, true);
    assert.equal(grant.isValid, true);
    await within(SOON, "the revocation request, awaited later", grant.revokeRequested);
    await grant.release();
  });

  it("missing rights are an error at once", async () => {
    const name = fresh();
    const readOnly = [new zookeeper.ACL(zookeeper.Permission.READ, new zookeeper.Id("world", "anyone"))];
    await (await client.lock(fresh()).acquire()).release();
    await zk((done) => operator.create(`/recipes/${name}`, readOnly, done as never));
    const refused = (error: unknown) => error instanceof Refused && error.kind === "no-permission";
    const { reader, writer } = client.readWriteLock(name);
    // A semaphore has its own directories below its name.
    for (const lock of [client.lock(name), reader, writer, client.election(name), client.semaphore(name, 2)]) {
      await assert.rejects(within(SOON, "the refusal", lock.acquire()), refused);
    }
    await zk((done) => operator.remove(`/recipes/${name}`, -1, done));
  });
});

describe("recipes on Redis", () => {
  it("are refused with the name of the servers that have them", async () => {
    await using client = await connect(`redis://${address("FENCEPOST_REDIS")}`);
    assert.throws(() => client.readWriteLock("x"), isConfig("unknown-option", /readWriteLock.*ZooKeeper/));
    assert.throws(() => client.election("x"), isConfig("unknown-option", /election.*ZooKeeper/));
    assert.throws(() => client.multiLock(["x"]), isConfig("unknown-option", /multiLock.*ZooKeeper/));
    assert.throws(() => client.semaphore("x", 2), isConfig("unknown-option", /semaphore.*ZooKeeper/));
    for (const options of [
      { layout: "kazoo" },
      { identifier: "x" },
      { revocable: true },
      { nodePrefix: "n" },
    ] as const) {
      assert.throws(
        () => client.lock("x", options),
        isConfig("unknown-option", /it is for ZooKeeper; a lock on Redis has ttl/),
      );
    }
    await assert.rejects(client.lock("x").revoke({} as never), isConfig("unknown-option", /ZooKeeper/));
  });
});
