/** A lock that was released and is acquired again: the acquire is the next attempt of the idle contender. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { type Client, type Grant, type Lock, LockLost, MisuseError, connect } from "fencepost";
import { Redis } from "ioredis";

import { fresh } from "./support/backends.js";
import { address } from "./support/servers.js";

describe("again", { concurrency: false }, () => {
  let client: Client;
  let server: Redis;
  before(async () => {
    const [host, port] = address("FENCEPOST_REDIS").split(":");
    client = await connect(`redis://${address("FENCEPOST_REDIS")}`);
    server = new Redis(Number(port), host ?? "");
  });
  after(async () => {
    await client.close();
    server.disconnect();
  });

  /** The owner that holds it on the server, and the attempt. */
  async function holder(name: string): Promise<[string, string]> {
    const [owner = "", attempt = ""] = (await server.get(name))?.split("-") ?? [];
    return [owner, attempt];
  }

  it("is a new attempt of the same contender", async () => {
    const name = fresh();
    const lock = client.lock(name);
    const owners = new Set<string>();
    for (let time = 1; time <= 12; time++) {
      const grant = await lock.acquire();
      const [owner, attempt] = await holder(name);
      owners.add(owner);
      assert.equal(attempt, String(time));
      await grant.release();
      assert.deepEqual(await holder(name), ["", ""]);
    }
    assert.equal(owners.size, 1);
  });

  it("is another contender while the first one holds", async () => {
    const name = fresh();
    const lock = client.lock(name);
    const first = await lock.acquire();
    const second = lock.acquire();
    const [owner] = await holder(name);
    await first.release();
    const grant = await second;
    const [other] = await holder(name);
    assert.notEqual(other, owner);
    await grant.release();
  });

  it("is another contender after a loss", async () => {
    const name = fresh();
    const lock = client.lock(name);
    const first = await lock.acquire();
    const [owner] = await holder(name);
    await server.del(name);
    await assert.rejects(first.release(), LockLost);
    const grant = await lock.acquire();
    const [other] = await holder(name);
    assert.notEqual(other, owner);
    await grant.release();
  });

  it("is not given back by the grant before, nor by its garbage", async () => {
    const name = fresh();
    const lock = client.lock(name);
    const grant = await second(lock);
    for (let turn = 0; turn < 5; turn++) {
      globalThis.gc?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal((await holder(name))[1], "2");
    assert.equal(grant.isValid, true);
    await grant.release();
  });

  it("asks with the lock's own settings after another lock", async () => {
    const names = [fresh(), fresh()];
    const locks = names.map((name) => client.lock(name));
    for (let time = 0; time < 3; time++) {
      for (const [index, lock] of locks.entries()) {
        const grant = await lock.acquire();
        assert.notDeepEqual(await holder(names[index] ?? ""), ["", ""]);
        assert.deepEqual(await holder(names[1 - index] ?? ""), ["", ""]);
        await grant.release();
      }
    }
  });

  it("is the same contender beside other locks", async () => {
    const locks = Array.from({ length: 40 }, () => client.lock(fresh()));
    const owners = async () =>
      Promise.all(
        locks.map(async (lock) => {
          const grant = await lock.acquire();
          const [owner] = await holder(lock.name);
          await grant.release();
          return owner;
        }),
      );
    assert.deepEqual(await owners(), await owners());
  });

  it("is another contender after very many other locks", async () => {
    const lock = client.lock(fresh());
    const owner = async () => {
      const grant = await lock.acquire();
      const [owner] = await holder(lock.name);
      await grant.release();
      return owner;
    };
    const first = await owner();
    const others = Array.from({ length: 2100 }, () => client.lock(fresh()));
    await Promise.all(others.map(async (other) => (await other.acquire()).release()));
    assert.notEqual(await owner(), first);
  });
});

/** The second of two grants. A separate function, so that no variable refers to the first one. */
async function second(lock: Lock): Promise<Grant> {
  const first = await lock.acquire();
  await first.release();
  const grant = await lock.acquire();
  assert.equal(first.isValid, false);
  assert.equal(grant.isValid, true);
  await assert.rejects(first.release(), (error) => error instanceof MisuseError && error.kind === "not-held");
  return grant;
}
