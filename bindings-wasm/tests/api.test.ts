/** The guarantees of a client, on every kind of server. */

import assert from "node:assert/strict";
import { describe } from "node:test";

import { type Client, ConfigError, Grant, LockLost, NotAcquired } from "fencepost";

import { BACKENDS, fresh } from "./support/backends.js";
import { isConfig, isMisuse } from "./support/errors.js";
import { onPairs } from "./support/pairs.js";
import { BRIEF, eventually, within } from "./support/servers.js";

const SOON = 30_000;

for (const make of BACKENDS) {
  describe(`client on ${make.name}`, { concurrency: false }, () => {
    const on = onPairs(make);

    on("grants a lock, and releases it", async (a, _b, backend) => {
      const name = fresh();
      const grant = await a.lock(name).acquire();
      assert.ok(grant instanceof Grant);
      assert.equal(grant.name, name);
      assert.equal(typeof grant.fence, "bigint");
      assert.equal(grant.isValid, true);
      assert.ok(grant.remaining > 0);
      assert.equal(grant.signal.aborted, false);
      await grant.release();
      assert.equal(grant.isValid, false);
      assert.equal(grant.remaining, 0);
      assert.equal(grant.signal.aborted, false);
      assert.deepEqual(await backend.traces(name), []);
    });

    on("excludes another client", async (a, b) => {
      const name = fresh();
      const grant = await a.lock(name).acquire();
      assert.equal(await b.lock(name).tryAcquire(), null);
      assert.equal(await b.lock(name).acquire({ timeout: BRIEF }), null);
      const waiting = b.lock(name).acquire();
      await grant.release();
      const next = await within(SOON, "the lock", waiting);
      assert.equal(await a.lock(name).tryAcquire(), null);
      await next.release();
    });

    on("excludes within one client", async (a) => {
      const lock = a.lock(fresh());
      const grant = await lock.acquire();
      assert.equal(await lock.tryAcquire(), null);
      await grant.release();
      const again = await lock.tryAcquire();
      assert.ok(again);
      await again.release();
    });

    on("gives fences that grow", async (a, b) => {
      const name = fresh();
      let last = 0n;
      for (let turn = 0; turn < 6; turn++) {
        const grant = await (turn % 2 === 0 ? a : b).lock(name).acquire();
        assert.ok(grant.fence !== null && grant.fence > last, `${grant.fence} after ${last}`);
        last = grant.fence;
        await grant.release();
      }
    });

    on("hands over to all who wait", async (a, b) => {
      const name = fresh();
      let inside = 0;
      let most = 0;
      const work = async (client: Client) => {
        const grant = await client.lock(name).acquire();
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
        await grant.release();
      };
      await within(60_000, "all turns", Promise.all([a, b, a, b, a, b, a, b].map(work)));
      assert.equal(most, 1);
    });

    on("withdraws when the signal is aborted", async (a, b, backend) => {
      const name = fresh();
      const grant = await a.lock(name).acquire();
      const controller = new AbortController();
      const waiting = b.lock(name).acquire({ signal: controller.signal, timeout: 20_000 });
      if (backend.name === "zookeeper") {
        await eventually(SOON, "the second contender", async () => (await backend.traces(name)).length === 2);
      }
      const reason = new Error("enough");
      controller.abort(reason);
      await assert.rejects(waiting, (error) => error === reason);
      await grant.release();
      const next = await b.lock(name).acquire({ timeout: SOON });
      assert.ok(next, "nothing of the withdrawn contender is left");
      await next.release();
      await eventually(SOON, "an empty lock", async () => (await backend.traces(name)).length === 0);
      await assert.rejects(a.lock(name).acquire({ signal: controller.signal }), (error) => error === reason);
    });

    on("does not mind a signal that is aborted later", async (a) => {
      const controller = new AbortController();
      const grant = await a.lock(fresh()).acquire({ signal: controller.signal });
      controller.abort();
      assert.equal(grant.isValid, true);
      await grant.release();
    });

    on("extends a grant", async (a) => {
      const grant = await a.lock(fresh()).acquire();
      await eventually(SOON, "some time", () => true);
      const before = grant.remaining;
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.ok(grant.remaining < before);
      await within(SOON, "the extension", Promise.all([grant.extend(), grant.extend()]));
      assert.equal(grant.isValid, true);
      await grant.release();
      await assert.rejects(grant.extend(), isMisuse("not-held"));
    });

    on("refuses to release twice", async (a) => {
      const grant = await a.lock(fresh()).acquire();
      const [first, second] = await Promise.allSettled([grant.release(), grant.release()]);
      assert.equal(first.status, "fulfilled");
      assert.ok(second.status === "rejected" && isMisuse("not-held")(second.reason));
      await assert.rejects(grant.release(), isMisuse("not-held"));
    });

    on("releases at the end of a scope", async (a, b) => {
      const name = fresh();
      {
        await using grant = await a.lock(name).acquire();
        assert.equal(await b.lock(name).tryAcquire(), null);
        assert.equal(grant.isValid, true);
      }
      {
        await using grant = await b.lock(name).tryAcquire();
        assert.ok(grant);
        await grant.release();
      }
      const result = await b.lock(name).using((grant) => grant.fence);
      assert.equal(typeof result, "bigint");
      const failure = new Error("the body's own");
      await assert.rejects(
        b.lock(name).using(() => Promise.reject(failure)),
        (error) => error === failure,
      );
      // @ts-expect-error a function is missing
      await assert.rejects(b.lock(name).using(), { name: "ConfigError", message: /a function of the grant/ });
      const free = await a.lock(name).tryAcquire();
      assert.ok(free);
      await assert.rejects(
        b.lock(name).using(() => undefined, { timeout: BRIEF }),
        isNotAcquired("timeout"),
      );
      await free.release();
    });

    on("ends a hold at its limit", async (a, b) => {
      const name = fresh();
      const grant = await a.lock(name, { maxHold: 100 }).acquire();
      const lost = await within(SOON, "the loss", grant.lost);
      assert.equal(lost.kind, "max-hold");
      assert.equal(grant.signal.reason, lost);
      const next = await b.lock(name).acquire({ timeout: SOON });
      assert.ok(next);
      await next.release();
      await assert.rejects(grant.release(), (error) => error === lost);
    });

    on("closes with grants and waiters", async (a, b) => {
      const name = fresh();
      const grant = await a.lock(name).acquire();
      const lock = a.lock(name);
      const waiting = assert.rejects(lock.acquire(), isMisuse("client-closed"));
      const { signal } = grant;
      await Promise.all([a.close(), a.close()]);
      await waiting;
      assert.equal(a.closed, true);
      assert.equal(grant.isValid, false);
      await eventually(SOON, "the signal", () => signal.aborted);
      const lost = await within(SOON, "the loss", grant.lost);
      assert.ok(isLostByClosing(lost));
      assert.equal(signal.reason, lost);
      assert.equal(grant.signal.reason, lost);
      for (const late of [grant.release(), grant.release(), grant.extend()]) {
        await assert.rejects(late, (error) => error === lost);
      }
      await assert.rejects(lock.acquire(), isMisuse("client-closed"));
      await assert.rejects(lock.tryAcquire(), isMisuse("client-closed"));
      assert.throws(() => a.lock(name), isMisuse("client-closed"));
      const next = await b.lock(name).acquire({ timeout: SOON });
      assert.ok(next);
      await next.release();
    });

    on("a scope reports that its client was closed in it", async (a, b) => {
      const name = fresh();
      await assert.rejects(
        a.lock(name).using(() => a.close()),
        isLostByClosing,
      );
      const own = new Error("the body's own");
      const held = b.lock(name).using(async (grant) => {
        const { lost } = grant;
        await b.close();
        assert.ok(isLostByClosing(await within(SOON, "the loss", lost)));
        throw own;
      });
      await assert.rejects(held, (error) => error === own);
    });

    on("a block reports that its client was closed in it", async (a, b) => {
      const name = fresh();
      await assert.rejects(async () => {
        await using grant = await a.lock(name).acquire();
        await a.close();
        assert.equal(grant.isValid, false);
      }, isLostByClosing);
      await assert.rejects(async () => {
        await using first = await b.lock(name, { owner: "request-17" }).acquire();
        await using second = await b.lock(name, { owner: "request-17" }).acquire();
        await second.release();
        await b.close();
        assert.equal(first.isValid, false);
      }, isLostByClosing);
    });

    on("takes no timeout that makes no sense", async (a) => {
      const lock = a.lock(fresh());
      for (const [timeout, kind] of [
        [0, "not-positive"],
        [-1, "not-positive"],
        [NaN, "unreadable-settings"],
        [Infinity, "unreadable-settings"],
        [1e15, "too-long"],
        ["200", "unreadable-settings"],
        [null, "unreadable-settings"],
      ] as [number, string][]) {
        await assert.rejects(lock.acquire({ timeout }), isConfig(kind), String(timeout));
      }
      await assert.rejects(lock.acquire({ timout: 5 } as never), isConfig("unknown-option"));
      await assert.rejects(lock.acquire({ signal: "now" } as never), isConfig("unreadable-settings"));
      await assert.rejects(lock.acquire(5 as never), isConfig("unreadable-settings"));
      assert.throws(() => a.lock(""), isConfig("empty-name"));
      assert.throws(() => a.lock(5 as never), isConfig("unreadable-settings"));
      for (const maxHold of [0, -1, NaN, "1"]) {
        assert.throws(() => a.lock("x", { maxHold } as never), ConfigError);
      }
      assert.throws(() => a.lock("x", { hold: 5 } as never), isConfig("unknown-option"));
    });
  });
}

function isLostByClosing(error: unknown) {
  return error instanceof LockLost && error.kind === "lost-connection-closed" && error.code === 406;
}

function isNotAcquired(kind: string) {
  return (error: unknown) => error instanceof NotAcquired && error.kind === kind;
}
