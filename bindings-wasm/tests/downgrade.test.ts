/** Writers that become readers: in memory, which is a model of ZooKeeper, and on the real server. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";

import { type Client, LockLost, Refused, connect } from "fencepost";
import zookeeper from "node-zookeeper-client";

import { SESSION, drop, fresh, memory, nodeRedis, zk, zkAt, zooKeeper } from "./support/backends.js";
import { isMisuse } from "./support/errors.js";
import { onPairs } from "./support/pairs.js";
import { address, control, eventually, proxy, restore, within } from "./support/servers.js";

const SOON = 30_000;
const owner = "request-17";

/** The contenders in their order: r for readers and w for writers, in capitals if they hold the lock. */
async function line(client: Client, name: string): Promise<string> {
  const contenders = await client.readWriteLock(name).reader.contenders();
  const shown = contenders.map(({ holds, shared }) => {
    const letter = shared ? "r" : "w";
    return holds ? letter.toUpperCase() : letter;
  });
  return shown.join("");
}

const stands = (client: Client, name: string, shown: string) =>
  eventually(SOON, `the line ${shown}`, async () => (await line(client, name)) === shown);

for (const make of [memory, zooKeeper]) {
  describe(`downgrades on ${make.name}`, { concurrency: false }, () => {
    const on = onPairs(make);

    for (const layout of ["curator", "kazoo"] as const) {
      on(`let those read who wait behind, and no writer: ${layout}`, async (a, b) => {
        const name = fresh();
        const [one, other] = [a.readWriteLock(name, { layout }), b.readWriteLock(name, { layout })];
        const writing = await one.writer.acquire();
        const { fence } = writing;
        const readers = [one.reader.acquire(), other.reader.acquire()];
        const settled = async (count: number) => (await one.reader.contenders()).length === count;
        await eventually(SOON, "the readers in the line", () => settled(3));
        let written = false;
        const writer = other.writer.acquire().then((grant) => {
          written = true;
          return grant;
        });
        await eventually(SOON, "the writer in the line", () => settled(4));
        await writing.downgrade();
        const reading = await within(SOON, "the readers", Promise.all(readers));
        assert.deepEqual([writing.fence, writing.isValid], [fence, true]);
        const found = await one.reader.contenders();
        assert.deepEqual(found.filter(({ holds }) => holds).map(({ shared }) => shared), [true, true, true]); // prettier-ignore
        for (const grant of [writing, ...reading]) {
          await assert.rejects(grant.downgrade(), isMisuse("not-a-writer"));
        }
        await writing.extend();
        await Promise.all(reading.map((grant) => grant.release()));
        assert.equal(written, false);
        await writing.release();
        const next = await within(SOON, "the writer", writer);
        assert.ok(next.fence !== null && fence !== null && next.fence > fence);
        await next.release();
      });
    }

    on("happen by themselves when an owner writes no more", async (a, b) => {
      const name = fresh();
      const { reader, writer } = a.readWriteLock(name, { owner });
      const other = b.readWriteLock(name);
      const [one, two] = [await writer.acquire(), await writer.acquire()];
      const reading = await reader.acquire();
      await assert.rejects(reading.downgrade(), isMisuse("not-a-writer"));
      const waiting = other.reader.acquire();
      await stands(a, name, "Wr");
      await one.release();
      assert.equal(await line(a, name), "Wr");
      await two.release();
      await assert.rejects(two.release(), isMisuse("not-held"));
      const foreign = await within(SOON, "the other reader", waiting);
      assert.deepEqual([reading.isValid, reading.fence], [true, one.fence]);
      await assert.rejects(writer.acquire(), isMisuse("upgrade"));
      await (await reader.acquire()).release();
      await foreign.release();
      assert.equal(await other.writer.tryAcquire(), null);
      await reading.release();
      const next = await other.writer.acquire({ timeout: SOON });
      assert.ok(next);
      await next.release();
    });

    on("happen with the last hold of an owner, and to what is released meanwhile", async (a, b) => {
      const name = fresh();
      const { writer } = a.readWriteLock(name, { owner });
      const other = b.readWriteLock(name);
      const [one, two] = [await writer.acquire(), await writer.acquire()];
      await one.downgrade();
      await assert.rejects(one.downgrade(), isMisuse("not-a-writer"));
      assert.equal(await line(a, name), "W");
      await (await writer.acquire()).release();
      const turning = two.downgrade();
      await assert.rejects(writer.acquire(), isMisuse("upgrade"));
      await turning;
      await assert.rejects(two.downgrade(), isMisuse("not-a-writer"));
      const foreign = await other.reader.acquire({ timeout: SOON });
      assert.ok(foreign);
      await foreign.release();
      await one.release();
      assert.equal(two.isValid, true);
      await two.release();
      // Both grants are released before the server has replied.
      const [writing, reading] = [await writer.acquire(), await a.readWriteLock(name, { owner }).reader.acquire()];
      await within(SOON, "the releases", Promise.all([writing.release(), reading.release()]));
      const alone = await a.readWriteLock(name).writer.acquire();
      const [turned, released] = await Promise.allSettled([alone.downgrade(), alone.release()]);
      assert.equal(released.status, "fulfilled");
      assert.ok(turned.status === "fulfilled" || isMisuse("not-held")(turned.reason));
      await assert.rejects(alone.downgrade(), isMisuse("not-held"));
      const last = await other.writer.acquire({ timeout: SOON });
      assert.ok(last);
      await last.release();
      assert.equal(await line(a, name), "");
    });

    on("are for writers", async (a) => {
      const { reader, writer } = a.readWriteLock(fresh());
      for (const lock of [a.lock(fresh()), a.semaphore(fresh(), 1), a.election(fresh()), reader]) {
        const grant = await lock.acquire();
        await assert.rejects(grant.downgrade(), isMisuse("not-a-writer"));
        assert.equal(grant.isValid, true);
        await grant.release();
      }
      const capped = await a.readWriteLock(fresh(), { maxHold: 30 }).writer.acquire();
      const lost = await within(SOON, "the loss", capped.lost);
      await assert.rejects(capped.downgrade(), (error) => error === lost);
      const grant = await writer.acquire();
      await a.close();
      await assert.rejects(grant.downgrade(), { kind: "lost-connection-closed", code: 406 });
    });
  });
}

describe("downgrades on ZooKeeper's nodes", { concurrency: false }, () => {
  after(() => restore());

  it("end with their session and their node, as all grants", { timeout: 40_000 }, async () => {
    const { id, address: at } = await proxy("zookeeper");
    const client = await connect(`zk://${at}/downgrades?session_timeout=${SESSION}`);
    const other = await connect(`zk://${address("FENCEPOST_ZOOKEEPER")}/downgrades?session_timeout=${SESSION}`);
    const name = fresh();
    const revocable = client.readWriteLock(name, { revocable: true });
    const { writer } = other.readWriteLock(name);
    const broken = await revocable.writer.acquire();
    await broken.downgrade();
    const [holder] = await writer.contenders();
    assert.ok(holder?.shared === true);
    await writer.breakContender(holder);
    assert.equal((await within(SOON, "the loss", broken.lost)).kind, "deleted");
    const grant = await revocable.writer.acquire();
    await grant.downgrade();
    await control("proxy-cut", id);
    assert.ok((await within(SOON, "the loss", grant.lost)) instanceof LockLost);
    const next = await writer.acquire({ timeout: SOON });
    assert.ok(next);
    await next.release();
    await control("proxy-heal", id);
    await client.close();
    await other.close();
  });

  it("are refused where a reader must not be created, and the writer stays", async () => {
    const operator = await zkAt(address("FENCEPOST_ZOOKEEPER"), 30_000);
    const client = await connect(`zk://${address("FENCEPOST_ZOOKEEPER")}/downgrades?session_timeout=30000`);
    const name = fresh();
    const { reader, writer } = client.readWriteLock(name, { owner });
    const [writing, reading] = [await writer.acquire(), await reader.acquire()];
    const { READ, DELETE, ADMIN } = zookeeper.Permission;
    const rights = [new zookeeper.ACL(READ | DELETE | ADMIN, new zookeeper.Id("world", "anyone"))];
    await zk((done) => operator.setACL(`/downgrades/${name}`, rights, -1, done as never));
    const refused = (error: unknown) => error instanceof Refused && error.kind === "no-permission";
    await assert.rejects(writing.downgrade(), refused);
    assert.deepEqual([writing.isValid, await line(client, name)], [true, "W"]);
    await (await writer.acquire()).release();
    await assert.rejects(writing.release(), refused);
    assert.deepEqual([writing.isValid, reading.isValid], [false, true]);
    await reading.release();
    assert.equal(await line(client, name), "");
    await client.close();
    await zk((done) => operator.remove(`/downgrades/${name}`, -1, done));
    drop(operator);
  });
});

describe("downgrades on Redis", () => {
  onPairs(nodeRedis)("are for ZooKeeper", async (a) => {
    const grant = await a.lock(fresh()).acquire();
    await assert.rejects(grant.downgrade(), isMisuse("not-a-writer"));
    await grant.release();
  });
});
