/** Refusals by servers and libraries: a clear error, with the library's error as its cause. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";

import { CleanupIncomplete, type Client, Refused, connect, fromRedis, fromZooKeeper } from "fencepost";
import { Redis } from "ioredis";
import zookeeper from "node-zookeeper-client";
import { RESP_TYPES, createClient } from "redis";

import { SESSION, drop, fresh, nodeRedisAt, zk, zkAt } from "./support/backends.js";
import { address, eventually, within } from "./support/servers.js";

const SOON = 30_000;

const refused = (kind: string) => (error: unknown) =>
  error instanceof Refused && error.kind === kind && error.code > 300 && error.code < 400;

describe("refusals", { concurrency: false }, () => {
  const redis = () => address("FENCEPOST_REDIS");
  const operator = nodeRedisAt(redis());
  const ends: (() => unknown)[] = [];
  before(() => operator.connect());
  afterEach(async () => {
    for (const end of ends.splice(0)) {
      await end();
    }
  });
  after(async () => {
    await operator.flushDb();
    operator.destroy();
  });

  function later(client: Client): Client {
    ends.push(() => client.close());
    return client;
  }

  it("Redis: a user who may not run scripts", async () => {
    const name = fresh();
    await operator.sendCommand(["ACL", "SETUSER", name, "on", ">secret", "~*", "&*", "+@all", "-evalsha", "-eval"]);
    ends.push(() => operator.sendCommand(["ACL", "DELUSER", name]));
    const client = later(await connect(`redis://${name}:secret@${redis()}`));
    await assert.rejects(within(SOON, "the refusal", client.lock(name).acquire()), (error) => {
      assert.ok(refused("no-permission")(error) && error instanceof Refused);
      assert.match(error.message, /NOPERM/);
      assert.ok(error.cause instanceof Error);
      return true;
    });
  });

  it("Redis: a release that is refused at the end of the client is counted", async () => {
    const name = fresh();
    const user = ["ACL", "SETUSER", name, "on", ">secret", "~*", "&*", "+@all"];
    await operator.sendCommand(user);
    ends.push(() => operator.sendCommand(["ACL", "DELUSER", name]));
    const client = await connect(`redis://${name}:secret@${redis()}`);
    await client.lock(name, { ttl: 60_000 }).acquire();
    await operator.sendCommand([...user, "-evalsha", "-eval"]);
    await assert.rejects(
      within(SOON, "the end", client.close()),
      (error) => error instanceof CleanupIncomplete && error.count === 1,
    );
    // The first close has reported it.
    await client.close();
    assert.equal(await operator.exists(name), 1);
    await operator.del(name);
  });

  it("Redis: a server without scripts", async () => {
    const directory = await mkdtemp(join(tmpdir(), "fencepost-"));
    const path = join(directory, "redis.sock");
    const without = ["EVALSHA", "EVAL"].flatMap((command) => ["--rename-command", command, ""]);
    const where = ["--port", "0", "--unixsocket", path, "--save", "", "--dir", directory];
    const server = spawn("redis-server", [...where, ...without], { stdio: "ignore" });
    const gone = once(server, "exit");
    try {
      await eventually(SOON, "a server that listens", () => existsSync(path));
      const nodeRedis = createClient({ socket: { path, tls: false } });
      // The file exists before the server accepts connections: until then this client retries.
      nodeRedis.on("error", () => undefined);
      await nodeRedis.connect();
      const own = [nodeRedis, new Redis(path, { retryStrategy: () => null })] as const;
      for (const connection of own) {
        const client = fromRedis(connection);
        await assert.rejects(within(SOON, "the refusal", client.lock(fresh()).acquire()), (error) => {
          assert.ok(refused("unsupported")(error) && error instanceof Refused);
          assert.match(error.message, /unknown command/);
          assert.ok(error.cause instanceof Error);
          return true;
        });
        await client.close();
      }
      own[0].destroy();
      own[1].disconnect();
    } finally {
      server.kill();
      await gone;
      await rm(directory, { recursive: true });
    }
  });

  it("ZooKeeper: credentials that are refused", async () => {
    const own = zookeeper.createClient(address("FENCEPOST_ZOOKEEPER"), { sessionTimeout: SESSION, retries: 0 });
    ends.push(() => {
      drop(own);
    });
    own.addAuthInfo("no such scheme", Buffer.from("x"));
    own.connect();
    const client = later(fromZooKeeper(own));
    await assert.rejects(within(SOON, "the refusal", client.lock(fresh()).acquire()), refused("auth-failed"));
  });

  for (const library of ["node-redis", "ioredis"] as const) {
    it(`Redis: a wrong password, and none at all, with ${library}`, async () => {
      const at = address("FENCEPOST_REDIS_AUTH");
      for (const password of ["wrong", undefined]) {
        const name = fresh();
        let client: Client;
        if (library === "node-redis") {
          const own = nodeRedisAt(at, password);
          void own.connect().catch(() => undefined);
          ends.push(() => {
            own.destroy();
          });
          client = later(fromRedis(own));
        } else {
          const own = new Redis(`redis://${at}`, {
            ...(password !== undefined && { password }),
            retryStrategy: () => 50,
          });
          own.on("error", () => undefined);
          ends.push(() => {
            own.disconnect();
          });
          client = later(fromRedis(own));
        }
        const acquire = client.lock(name).acquire({ timeout: SOON });
        await assert.rejects(within(SOON, "the refusal", acquire), refused("auth-failed"));
      }
    });
  }

  it("Redis: a client that is closed or was never connected", async () => {
    const never = later(fromRedis(createClient({ url: `redis://${redis()}` })));
    await assert.rejects(never.lock("x").acquire(), refused("connection-closed"));
    const closed = nodeRedisAt(redis());
    await closed.connect();
    closed.destroy();
    await assert.rejects(later(fromRedis(closed)).lock("x").tryAcquire(), refused("connection-closed"));
    const ended = new Redis(`redis://${redis()}`);
    const end = once(ended, "end");
    await ended.quit();
    await end;
    await assert.rejects(later(fromRedis(ended)).lock("x").acquire(), refused("connection-closed"));
  });

  it("Redis: clients with options that change what they say", async () => {
    const mapped = createClient({
      url: `redis://${redis()}`,
      RESP: 2,
      commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.NUMBER]: String } },
    });
    await mapped.connect();
    ends.push(() => {
      mapped.destroy();
    });
    const changed = new Redis(`redis://${redis()}`, { stringNumbers: true, keyPrefix: "app:" });
    ends.push(() => {
      changed.disconnect();
    });
    const lazy = new Redis(`redis://${redis()}`, { lazyConnect: true });
    ends.push(() => {
      lazy.disconnect();
    });
    const name = fresh();
    const clients = [mapped, changed, lazy].map((own) => later(fromRedis(own)));
    let inside = 0;
    const turn = async (client: Client) => {
      await using grant = await client.lock(name).acquire();
      assert.ok(grant.isValid);
      inside += 1;
      assert.equal(inside, 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
    };
    await within(SOON, "all turns", Promise.all([...clients, ...clients].map(turn)));
  });

  it("ZooKeeper: a directory that this client may not write", async () => {
    const own = await zkAt(address("FENCEPOST_ZOOKEEPER"));
    ends.push(() => {
      drop(own);
    });
    const name = fresh();
    const readOnly = [new zookeeper.ACL(zookeeper.Permission.READ, new zookeeper.Id("world", "anyone"))];
    await zk((done) => own.create(`/${name}`, readOnly, done as never));
    ends.unshift(() => zk((done) => own.remove(`/${name}`, -1, done)));
    const client = later(fromZooKeeper(own));
    await assert.rejects(within(SOON, "the refusal", client.lock(name).acquire()), refused("no-permission"));
  });

  it("ZooKeeper: nodes with rights of the caller's choice", async () => {
    const acl = [{ permissions: 31, scheme: "digest", id: "shop:hF/Y4gqLwzF1B8NVoPEyUSIqkg8=" }];
    const client = later(await connect(`zk://${address("FENCEPOST_ZOOKEEPER")}?session_timeout=${SESSION}`, { acl }));
    // The client has not logged in as the shop, so it may not list the nodes that it creates.
    await assert.rejects(within(SOON, "the refusal", client.lock(fresh()).acquire()), refused("no-permission"));
  });

  it("ZooKeeper: a client that is closed", async () => {
    const own = await zkAt(address("FENCEPOST_ZOOKEEPER"));
    const client = later(fromZooKeeper(own));
    const waiting = (await client.lock(fresh()).acquire()).lost;
    own.close();
    assert.equal((await within(SOON, "the loss", waiting)).kind, "lost-connection-closed");
    await assert.rejects(client.lock("x").acquire(), refused("connection-closed"));
    assert.throws(() => fromZooKeeper(own), /has been closed/);
  });
});
