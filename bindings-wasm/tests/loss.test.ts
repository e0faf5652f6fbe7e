/** Grants that end without a release: the holder is notified, and a waiter gets the lock. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { after, afterEach, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { type Client, type Grant, LockLost, MisuseError, fromZooKeeper } from "fencepost";
import zookeeper from "node-zookeeper-client";

import { type Backend, SERVERS, SESSION, type ZkClient, expire, fresh } from "./support/backends.js";
import { address, control, eventually, proxy, restore, within } from "./support/servers.js";

const SOON = 15_000;

for (const make of SERVERS) {
  describe(`losses on ${make.name}`, { concurrency: false }, () => {
    let backend: Backend;
    let clients: Client[] = [];
    before(async () => {
      backend = await make();
    });
    afterEach(async () => {
      await restore(async () => {
        // The clean-up of an abandoned acquire uses the same connection as its request.
        const closed = await Promise.allSettled(clients.map((client) => client.close()));
        clients = [];
        assert.deepEqual(
          closed.filter(({ status }) => status === "rejected"),
          [],
        );
      });
    });
    after(() => backend.close());

    async function client(at?: string): Promise<Client> {
      const client = await backend.client(at);
      clients.push(client);
      return client;
    }

    async function held(name: string, at?: string): Promise<Grant> {
      return (await client(at)).lock(name, backend.brief).acquire();
    }

    async function waiting(name: string): Promise<{ readonly next: Promise<Grant> }> {
      const next = (await client()).lock(name, backend.brief).acquire();
      next.catch(() => undefined);
      if (backend.name === "zookeeper") {
        await eventually(SOON, "the waiter", async () => (await backend.traces(name)).length === 2);
      }
      return { next };
    }

    async function reportsLoss(grant: Grant, ...kinds: string[]): Promise<void> {
      const { signal } = grant;
      const lost = await within(SOON, "the loss", grant.lost);
      assert.ok(lost instanceof LockLost);
      assert.ok(kinds.includes(lost.kind), lost.kind);
      assert.equal(grant.isValid, false);
      assert.equal(grant.remaining, 0);
      await eventually(SOON, "the signal", () => signal.aborted);
      assert.equal(signal.reason, lost);
      await assert.rejects(grant.release(), (error) => error === lost);
      await assert.rejects(grant.extend(), (error) => error === lost);
    }

    it("the lock is deleted on the server", { timeout: 40_000 }, async () => {
      const name = fresh();
      const grant = await held(name);
      const { next } = await waiting(name);
      await backend.remove(name);
      await reportsLoss(grant, "deleted", "taken");
      const second = await within(SOON, "the lock", next);
      await second.release();
    });

    it("the server is paused for longer than the lease", { timeout: 60_000 }, async () => {
      const name = fresh();
      const grant = await held(name);
      const { next } = await waiting(name);
      await control("pause", backend.server ?? "");
      await within(SOON, "the loss", grant.lost);
      await reportsLoss(grant, "lease-ended");
      await control("resume", backend.server ?? "");
      const second = await within(SOON, "the lock", next);
      assert.ok(grant.fence !== null && second.fence !== null && second.fence > grant.fence);
      await second.release();
    });

    it("the server is killed and comes back", { timeout: 60_000 }, async () => {
      const name = fresh();
      const grant = await held(name);
      const { next } = await waiting(name);
      await control("kill", backend.server ?? "");
      await within(SOON, "the loss", grant.lost);
      await reportsLoss(grant, "lease-ended", "session-expired");
      await control("start", backend.server ?? "");
      const second = await within(SOON, "the lock", next);
      await second.release();
    });

    it("the connection is cut for a moment", { timeout: 40_000 }, async () => {
      const name = fresh();
      const { id, address: at } = await proxy(backend.server ?? "");
      const grant = await (
        await client(at)
      )
        .lock(name, { ...(backend.name !== "zookeeper" && { ttl: 3000 }) })
        .acquire();
      await grant.extend();
      await control("proxy-cut", id);
      await control("proxy-heal", id);
      await eventually(SOON, "the connection", async () => {
        await grant.extend();
        return grant.isValid;
      });
      await grant.release();
      assert.deepEqual(await backend.traces(name), []);
    });

    it("the holder's process is killed", { timeout: 40_000 }, async () => {
      const name = fresh();
      const child = await holder(backend, name);
      try {
        const { next } = await waiting(name);
        child.kill("SIGKILL");
        const second = await within(SOON, "the lock", next);
        await second.release();
      } finally {
        child.kill("SIGKILL");
      }
    });

    for (const nth of [1, 2]) {
      it(`reply ${nth} of an acquire is lost`, { timeout: 40_000 }, async () => {
        const name = fresh();
        const { id, address: at } = await proxy(backend.server ?? "");
        const through = await client(at);
        await (await through.lock(name, backend.brief).acquire()).release();
        await control("proxy-drop-replies", id, nth);
        const grant = await within(SOON, "the lock", through.lock(name, backend.brief).acquire());
        assert.equal(await (await client()).lock(name, backend.brief).tryAcquire(), null);
        await grant.release();
        await eventually(SOON, "an empty lock", async () => (await backend.traces(name)).length === 0);
        await control("proxy-drop-replies", id, 0);
      });
    }

    it("an acquire whose reply is lost is given up", { timeout: 40_000 }, async () => {
      const name = fresh();
      const { id, address: at } = await proxy(backend.server ?? "");
      const through = await client(at);
      await (await through.lock(name, backend.brief).acquire()).release();
      await control("proxy-reset", id);
      await control("proxy-hold", id);
      const controller = new AbortController();
      const acquire = through.lock(name, backend.brief).acquire({ signal: controller.signal });
      await eventually(SOON, "the request", async () => ((await control("proxy-count", id)).total ?? 0) > 0);
      controller.abort();
      await assert.rejects(acquire, { name: "AbortError" });
      await control("proxy-pass", id);
      await control("proxy-cut", id);
      await control("proxy-heal", id);
      const other = await within(SOON, "the lock", (await client()).lock(name, backend.brief).acquire());
      await other.release();
      await eventually(SOON, "an empty lock", async () => (await backend.traces(name)).length === 0);
    });

    it("leaving a scope reports the loss", { timeout: 40_000 }, async () => {
      const name = fresh();
      const lock = (await client()).lock(name, backend.brief);
      const lose = async (grant: Grant) => {
        // The client watches the grant from the first confirmation on.
        await grant.extend();
        await backend.remove(name);
        await within(SOON, "the loss", grant.lost);
      };
      await assert.rejects(lock.using(lose), LockLost);
      await assert.rejects(async () => {
        await using grant = await lock.acquire();
        await lose(grant);
      }, LockLost);
      const own = new Error("the body's own");
      await assert.rejects(
        lock.using(async (grant) => {
          await lose(grant);
          throw own;
        }),
        (error) => error === own,
      );
    });
  });
}

describe("losses of a ZooKeeper session", { concurrency: false }, () => {
  it(
    "expired: the holder loses the lock, the waiter gets it, and the client goes on",
    { timeout: 40_000 },
    async () => {
      const made: ZkClient[] = [];
      const options = { prefix: "/locks" };
      const fresh_ = () => {
        const client = zookeeper.createClient(address("FENCEPOST_ZOOKEEPER"), { sessionTimeout: SESSION, retries: 0 });
        made.push(client);
        return client;
      };
      const a = fromZooKeeper(fresh_, options);
      const b = fromZooKeeper(fresh_, options);
      const name = fresh();
      const grant = await a.lock(name).acquire();
      const [holder] = made;
      const next = b.lock(name).acquire();
      assert.ok(holder);
      await expire(holder);
      const lost = await within(SOON, "the loss", grant.lost);
      // The watch event may have come first.
      assert.ok(["session-expired", "deleted"].includes(lost.kind), lost.kind);
      const second = await within(SOON, "the lock", next);
      // A waiter of a session that has expired queues again in the next one.
      const third = a.lock(name).acquire();
      await eventually(SOON, "the next session", () => made.length === 3);
      const [, , renewed] = made;
      assert.ok(renewed);
      await eventually(SOON, "its connection", () => renewed.getState().name === "SYNC_CONNECTED");
      await expire(renewed);
      await eventually(SOON, "another session", () => made.length === 4);
      await second.release();
      await (await within(SOON, "the lock", third)).release();
      await a.close();
      await b.close();
      assert.throws(() => a.lock(name), MisuseError);
    },
  );
});

async function holder(backend: Backend, name: string): Promise<ChildProcess> {
  const program = fileURLToPath(new URL("./programs/hold.js", import.meta.url));
  const child = spawn(process.execPath, [program, backend.url, name, JSON.stringify(backend.brief)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await within(SOON, "the holder", once(child.stdout, "data"));
  return child;
}
