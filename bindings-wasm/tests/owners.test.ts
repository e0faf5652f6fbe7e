/** Owners: a holder acquires its lock again without a request to the server, on every kind of server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { type Client, type Grant, type Lock, connect } from "fencepost";

import { SESSION, fresh, memory, nodeRedis, zooKeeper } from "./support/backends.js";
import { isConfig, isMisuse } from "./support/errors.js";
import { onPairs } from "./support/pairs.js";
import { BRIEF, address, control, eventually, proxy, restore, within } from "./support/servers.js";

const SOON = 30_000;
const owner = "request-17";

async function held(lock: Lock): Promise<Grant> {
  const grant = await lock.tryAcquire();
  assert.ok(grant, `${lock.name} is free`);
  return grant;
}

for (const make of [memory, zooKeeper, nodeRedis]) {
  describe(`owners on ${make.name}`, { concurrency: false }, () => {
    const on = onPairs(make);

    on("hold as often as they like, and a foreign contender waits for the last release", async (a, b, backend) => {
      const name = fresh();
      // With any lock object, and with every method to acquire.
      const first = await a.lock(name, { owner }).acquire();
      const lock = a.lock(name, { owner });
      const others = [await held(lock), await lock.acquire({ timeout: 1 }), await lock.acquire()];
      const grants = [first, ...others] as Grant[];
      await lock.using((grant) => grants.push(grant));
      const [used] = grants.splice(4);
      assert.equal(used?.isValid, false);
      assert.equal(new Set(grants).size, 4);
      for (const grant of grants) {
        assert.deepEqual([grant.fence, grant.isValid, grant.name], [first.fence, true, name]);
        assert.ok(grant.remaining > 0);
      }
      if (backend.server !== null) {
        assert.equal((await backend.traces(name)).length, 1);
      }
      const next = b.lock(name, { owner }).acquire();
      // The first grant has no special role.
      for (const grant of grants.slice(0, -1)) {
        await grant.release();
        assert.deepEqual([grant.isValid, grant.remaining], [false, 0]);
        await assert.rejects(grant.release(), isMisuse("not-held"));
        await assert.rejects(grant.extend(), isMisuse("not-held"));
        assert.equal(await b.lock(name).tryAcquire(), null);
        assert.equal(await a.lock(name).tryAcquire(), null);
      }
      const [last] = grants.splice(-1);
      assert.ok(last?.isValid);
      await last.extend();
      await last.release();
      await assert.rejects(last.release(), isMisuse("not-held"));
      const second = await within(SOON, "the lock", next);
      assert.ok(second.fence !== null && first.fence !== null && second.fence > first.fence);
      await second.release();
    });

    on("differ by owner, name and client", async (a, b) => {
      const name = fresh();
      const grant = await a.lock(name, { owner }).acquire();
      assert.equal(await a.lock(name, { owner: "request-18" }).tryAcquire(), null);
      assert.equal(await a.lock(name).tryAcquire(), null);
      assert.equal(await b.lock(name, { owner }).tryAcquire(), null);
      const beside = await held(a.lock(fresh(), { owner }));
      assert.notEqual(beside.fence, grant.fence);
      await beside.release();
      await grant.release();
    });

    on("cannot acquire twice at once", async (a, b) => {
      const name = fresh();
      const grant = await b.lock(name).acquire();
      const lock = a.lock(name, { owner });
      const controller = new AbortController();
      const waiting = lock.acquire({ signal: controller.signal });
      for (const refused of [lock.acquire(), lock.tryAcquire(), lock.using(() => undefined)]) {
        await assert.rejects(refused, isMisuse("busy", new RegExp(`: ${name}: .*use another owner`)));
      }
      // A waiter that is cancelled blocks no other waiter.
      controller.abort(new Error("enough"));
      const again = lock.acquire();
      await assert.rejects(waiting, /enough/);
      await grant.release();
      await (await within(SOON, "the lock", again)).release();
      // A refused contender does not block other waiters either.
      const other = await b.lock(name).acquire();
      assert.equal(await lock.tryAcquire(), null);
      assert.equal(await lock.acquire({ timeout: BRIEF }), null);
      await other.release();
      await (await held(lock)).release();
    });

    on("contend anew while the last release is on its way", async (a, b) => {
      const name = fresh();
      const lock = a.lock(name, { owner });
      const [one, other] = [await lock.acquire(), await lock.acquire()];
      const next = b.lock(name).acquire();
      const released = Promise.all([one.release(), other.release()]);
      const again = lock.acquire();
      await assert.rejects(lock.acquire(), isMisuse("busy"));
      await released;
      const foreign = await within(SOON, "the lock", Promise.race([next, again]));
      await foreign.release();
      const grants = await within(SOON, "the other", Promise.all([next, again]));
      assert.equal(new Set([one, ...grants].map(({ fence }) => fence)).size, 3);
      await grants.find((grant) => grant !== foreign)?.release();
    });

    on("learn of a loss in all their holds", async (a, b) => {
      const name = fresh();
      // The settings of the first acquire are valid for all.
      const first = await a.lock(name, { owner, maxHold: 2000 }).acquire();
      const gone = await a.lock(name, { owner }).acquire();
      const grants = [first, await a.lock(name, { owner, maxHold: 60_000 }).acquire()];
      const untold = gone.signal;
      await gone.release();
      const signals = grants.map(({ signal }) => signal);
      const losses = await within(SOON, "the loss", Promise.all(grants.map(({ lost }) => lost)));
      assert.deepEqual(losses.map(({ kind }) => kind), ["max-hold", "max-hold"]); // prettier-ignore
      await eventually(SOON, "the signals", () => signals.every(({ aborted }) => aborted));
      for (const grant of grants) {
        assert.deepEqual([grant.isValid, grant.remaining], [false, 0]);
        await assert.rejects(grant.release(), (error) => error === losses[0] || error === losses[1]);
      }
      assert.equal(untold.aborted, false);
      await assert.rejects(gone.release(), isMisuse("not-held"));
      const next = await a.lock(name, { owner }).acquire({ timeout: SOON });
      assert.ok(next?.fence && first.fence && next.fence > first.fence);
      await next.release();
      await (await held(b.lock(name))).release();
    });

    on("learn of a loss that no hold has seen yet before they acquire again", async (a) => {
      const name = fresh();
      const lock = a.lock(name, { owner, maxHold: 30 });
      const first = await lock.acquire();
      // No timer runs meanwhile.
      const until = performance.now() + 40;
      while (performance.now() < until);
      // This acquire has no `maxHold`: a busy machine may need longer than that of the first one to check the grant.
      const next = await a.lock(name, { owner }).acquire();
      assert.ok(next.isValid && next.fence !== null && first.fence !== null && next.fence > first.fence);
      assert.equal((await within(SOON, "the loss", first.lost)).kind, "max-hold");
      await next.release();
    });

    on("lose what they hold when the client is closed, once", async (a, b) => {
      const name = fresh();
      const lock = a.lock(name, { owner });
      const grants = [await lock.acquire(), await lock.acquire(), await lock.acquire()];
      const other = fresh();
      const foreign = await b.lock(other).acquire();
      const waiting = assert.rejects(a.lock(other, { owner }).acquire(), isMisuse("client-closed"));
      await a.close();
      await waiting;
      for (const grant of grants) {
        assert.equal(grant.isValid, false);
        await assert.rejects(grant.release(), { kind: "lost-connection-closed", code: 406 });
      }
      await assert.rejects(lock.acquire(), isMisuse("client-closed"));
      await (await held(b.lock(name))).release();
      await foreign.release();
    });

    on("whose grants are garbage hold no longer", async (a, b) => {
      const name = fresh();
      const kept = await forgetful(a, name);
      await collect();
      assert.equal(await b.lock(name).tryAcquire(), null);
      assert.equal(kept.isValid, true);
      await kept.release();
      const next = await b.lock(name).acquire({ timeout: SOON });
      assert.ok(next, "a grant without a reference was no hold any more");
      await next.release();
    });

    on("have names that make sense", async (a) => {
      for (const [bad, why] of [
        ["", /owner.*empty/],
        ["ü".repeat(513), /owner.*1024 bytes/],
      ] as const) {
        assert.throws(() => a.lock("x", { owner: bad }), isConfig("invalid-option", why));
      }
      for (const bad of [7, null, 1n, {}]) {
        assert.throws(() => a.lock("x", { owner: bad as never }), isConfig("unreadable-settings", /owner/));
      }
      const lock = a.lock(fresh(), { owner: "ü".repeat(512) });
      const grant = await lock.acquire();
      for (const [timeout, kind] of [
        [0, "not-positive"],
        [-1, "not-positive"],
        [NaN, "unreadable-settings"],
        [1e15, "too-long"],
      ] as const) {
        // prettier-ignore
        await assert.rejects(lock.acquire({ timeout }), isConfig(kind), String(timeout));
      }
      await assert.rejects(lock.acquire({ signal: AbortSignal.abort(new Error("no")) }), /no/);
      await grant.release();
      await (await held(lock)).release();
    });
  });
}

for (const make of [memory, zooKeeper]) {
  describe(`owners of read/write locks on ${make.name}`, { concurrency: false }, () => {
    const on = onPairs(make);

    on("read more than once", async (a, b) => {
      const name = fresh();
      const { reader } = a.readWriteLock(name, { owner });
      const [one, other] = [await reader.acquire(), await reader.acquire()];
      assert.equal(one.fence, other.fence);
      assert.equal((await reader.contenders()).length, 1);
      const foreign = b.readWriteLock(name);
      await (await held(foreign.reader)).release();
      await one.release();
      assert.equal(await foreign.writer.tryAcquire(), null);
      await other.release();
      await (await held(foreign.writer)).release();
    });

    on("do not become writers while they read", async (a, b) => {
      const name = fresh();
      const { reader, writer } = a.readWriteLock(name, { owner });
      const reading = await reader.acquire();
      for (const refused of [writer.acquire(), writer.tryAcquire(), writer.acquire({ timeout: 5 })]) {
        await assert.rejects(refused, isMisuse("upgrade", new RegExp(`: ${name}: .*release`)));
      }
      assert.equal(reading.isValid, true);
      assert.equal((await reader.contenders()).length, 1);
      // The client sent nothing: no writer blocks other readers.
      await (await held(b.readWriteLock(name).reader)).release();
      await reading.release();
      await (await held(writer)).release();
    });

    on("read while they write", async (a, b) => {
      const name = fresh();
      const { reader, writer } = a.readWriteLock(name, { owner });
      const [one, other] = [await writer.acquire(), await writer.acquire()];
      const reading = await reader.acquire();
      assert.deepEqual([reading.fence, other.fence], [one.fence, one.fence]);
      assert.equal((await reader.contenders()).length, 1);
      await reading.release();
      await one.release();
      assert.equal(await b.readWriteLock(name).reader.tryAcquire(), null);
      await other.release();
      await (await held(b.readWriteLock(name).reader)).release();
    });

    on("are for locks that one can have", (a) => {
      const unknown = isConfig("unknown-option", /owner/);
      assert.throws(() => a.semaphore("x", 2, { owner } as never), unknown);
      assert.throws(() => a.election("x", { owner } as never), unknown);
      assert.throws(() => a.multiLock(["x"], { owner } as never), unknown);
      return Promise.resolve();
    });
  });
}

describe("owners and their server", { concurrency: false }, () => {
  for (const [server, url] of [
    ["zookeeper", (at: string) => `zk://${at}/owners?session_timeout=30000`],
    ["redis-1", (at: string) => `redis://${at}`],
  ] as const) {
    it(`send nothing for what they hold: ${server}`, async () => {
      const { id, address: at } = await proxy(server);
      const client = await connect(url(at));
      try {
        const name = fresh();
        // No renewal is due in this time.
        const lock = client.lock(name, { owner, ...(server === "redis-1" && { ttl: 60_000 }) });
        const requests = async () => {
          const { by_kind: kinds = {} } = await control("proxy-count", id);
          // The client confirms the session by its clock.
          return Object.entries(kinds).filter(([kind]) => kind !== "sync" && kind !== "ping");
        };
        const first = await lock.acquire();
        await first.extend();
        const before = await requests();
        const grants = await Promise.all(Array.from({ length: 100 }, () => lock.acquire()));
        await Promise.all(grants.map((grant) => grant.release()));
        assert.deepEqual(await requests(), before);
        await first.release();
        assert.notDeepEqual(await requests(), before);
      } finally {
        await client.close();
        await restore();
      }
    });
  }

  it("lose all holds with the session", { timeout: 40_000 }, async () => {
    const { id, address: at } = await proxy("zookeeper");
    const client = await connect(`zk://${at}/owners?session_timeout=${SESSION}`);
    const other = await connect(`zk://${address("FENCEPOST_ZOOKEEPER")}/owners?session_timeout=${SESSION}`);
    try {
      const lock = client.lock(fresh(), { owner });
      const grants = [await lock.acquire(), await lock.acquire()];
      const next = other.lock(lock.name).acquire();
      await control("proxy-cut", id);
      const losses = await within(SOON, "the loss", Promise.all(grants.map(({ lost }) => lost)));
      assert.equal(new Set(losses.map(({ kind }) => kind)).size, 1);
      await (await within(SOON, "the lock", next)).release();
      await control("proxy-heal", id);
      await (await within(SOON, "the lock anew", lock.acquire())).release();
    } finally {
      await client.close();
      await other.close();
      await restore();
    }
  });
});

/** Holds a lock twice, and keeps one of the grants. */
async function forgetful(client: Client, name: string): Promise<Grant> {
  const lock = client.lock(name, { owner });
  assert.ok((await lock.acquire()).isValid);
  return lock.acquire();
}

/** Runs the garbage collector and the finalizers. */
async function collect(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
}
