/** Locks that are one node, without a queue: in memory, which is a model of ZooKeeper, and on the real server. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { Refused, connect } from "fencepost";

import { SESSION, drop, fresh, memory, nodeRedis, zk, zkAt, zooKeeper } from "./support/backends.js";
import { isConfig } from "./support/errors.js";
import { onPairs } from "./support/pairs.js";
import { BRIEF, address, control, proxy, restore, within } from "./support/servers.js";

const SOON = 30_000;
const fair = false;

for (const make of [memory, zooKeeper]) {
  describe(`single nodes on ${make.name}`, { concurrency: false }, () => {
    const on = onPairs(make);

    on("exclude, and are waited for", async (a, b) => {
      const name = fresh();
      const [one, other] = [a.lock(name, { fair }), b.lock(name, { fair })];
      const grant = await one.acquire();
      assert.equal(typeof grant.fence, "bigint");
      assert.equal(await one.tryAcquire(), null);
      assert.equal(await other.tryAcquire(), null);
      assert.equal(await other.acquire({ timeout: BRIEF }), null);
      const controller = new AbortController();
      const given = assert.rejects(other.acquire({ signal: controller.signal }), /enough/);
      controller.abort(new Error("enough"));
      await given;
      let inside = 0;
      const fences: bigint[] = [];
      const turns = [one, other, other, one, other].map((lock) =>
        lock.using(async ({ fence }) => {
          inside += 1;
          assert.equal(inside, 1);
          fences.push(fence ?? 0n);
          await new Promise((resolve) => setImmediate(resolve));
          inside -= 1;
        }),
      );
      await grant.extend();
      await grant.release();
      await within(SOON, "all turns", Promise.all(turns));
      const grown = fences.every((fence, turn) => fence > (fences[turn - 1] ?? grant.fence ?? fence));
      assert.ok(grown, fences.join());
    });

    on("have owners", async (a, b) => {
      const name = fresh();
      const lock = a.lock(name, { fair, owner: "request-17" });
      const [one, two] = [await lock.acquire(), await lock.acquire()];
      assert.equal(one.fence, two.fence);
      await one.release();
      assert.equal(await b.lock(name, { fair }).tryAcquire(), null);
      await two.release();
      const next = await b.lock(name, { fair }).acquire({ timeout: SOON });
      assert.ok(next);
      await next.release();
    });

    on("are looked at, and broken", async (a, b) => {
      const name = fresh();
      const lock = b.lock(name, { fair });
      assert.deepEqual(await lock.contenders(), []);
      const grant = await a.lock(name, { fair, identifier: "till 7" }).acquire();
      const next = lock.acquire();
      const [holder, ...more] = await lock.contenders();
      assert.ok(holder !== undefined && more.length === 0);
      assert.match(holder.identifier, /till 7/);
      assert.deepEqual([holder.holds, holder.shared, holder.fence], [true, false, grant.fence]);
      assert.ok(holder.node.endsWith(`/${name}`));
      await lock.breakContender(holder);
      const granted = await within(SOON, "the lock", next);
      const gone = lock.breakContender(holder);
      await assert.rejects(gone, (error) => error instanceof Refused && error.kind === "no-contender");
      await assert.rejects(grant.extend(), /deleted/);
      assert.equal(granted.isValid, true);
      await granted.release();
    });

    on("have no layout", (a) => {
      for (const options of [{ layout: "kazoo" }, { nodePrefix: "n" }, { revocable: true }] as const) {
        assert.throws(
          () => a.lock("x", { fair, ...options }),
          isConfig("unknown-option", /an unfair lock on .* has maxHold, answerWithin/),
        );
      }
      assert.throws(() => a.lock("x", { fair: 0 as never }), isConfig("unreadable-settings", /fair/));
      assert.throws(() => a.readWriteLock("x", { fair } as never), isConfig("unknown-option", /fair/));
      assert.throws(() => a.semaphore("x", 2, { fair } as never), isConfig("unknown-option", /fair/));
      a.lock("x", { fair: true, layout: "kazoo" });
      return Promise.resolve();
    });
  });
}

describe("single nodes on ZooKeeper", { concurrency: false }, () => {
  const url = (at = address("FENCEPOST_ZOOKEEPER")) => `zk://${at}/singles?session_timeout=${SESSION}`;
  after(() => restore());

  it("say whose they are", async () => {
    const operator = await zkAt(address("FENCEPOST_ZOOKEEPER"));
    await using client = await connect(url());
    const name = fresh();
    await using grant = await client.lock(name, { fair, identifier: "till 7" }).acquire();
    const data = await zk<Buffer>((done) => operator.getData(`/singles/${name}`, done));
    assert.match(String(data), /till 7/);
    assert.equal(grant.isValid, true);
    drop(operator);
  });

  it("pass on when the holder's session ends", { timeout: 40_000 }, async () => {
    const { id, address: at } = await proxy("zookeeper");
    await using other = await connect(url());
    const client = await connect(url(at));
    const name = fresh();
    const grant = await client.lock(name, { fair }).acquire();
    const next = other.lock(name, { fair }).acquire();
    await control("proxy-cut", id);
    const [, granted] = await within(SOON, "loss and lock", Promise.all([grant.lost, next]));
    assert.ok(granted.fence !== null && grant.fence !== null && granted.fence > grant.fence);
    await granted.release();
    await control("proxy-heal", id);
    await client.close();
  });

  it("pass on when the holder is killed", { timeout: 40_000 }, async () => {
    await using client = await connect(url());
    const name = fresh();
    const program = fileURLToPath(new URL("./programs/hold.js", import.meta.url));
    const child = spawn(process.execPath, [program, url(), name, JSON.stringify({ fair })], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await within(SOON, "the holder", once(child.stdout, "data"));
      assert.equal(await client.lock(name, { fair }).tryAcquire(), null);
      const next = client.lock(name, { fair }).acquire();
      child.kill("SIGKILL");
      await (await within(SOON, "the lock", next)).release();
    } finally {
      child.kill("SIGKILL");
    }
  });
});

describe("single nodes on Redis", () => {
  onPairs(nodeRedis)("are refused", (a) => {
    assert.throws(() => a.lock("x", { fair }), isConfig("unknown-option", /fair.*a lock on Redis has ttl/));
    return Promise.resolve();
  });
});
