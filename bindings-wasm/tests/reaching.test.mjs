// Servers that do not exist or do not reply: a waiter gets the reason, and a close takes no time.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { describe, test } from "node:test";

import zookeeper from "node-zookeeper-client";

import { Refused, connect, fromRedis, fromZooKeeper } from "../dist/index.js";
import { REDIS_PEERS, reaching } from "./peers.mjs";
import { address, unique, within } from "./servers.mjs";
import { withSentinel } from "./support/redis-processes.mjs";
import { relay } from "./support/relay.mjs";

/** A server that accepts connections and sends nothing. */
async function silent(t) {
  const sockets = new Set();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    sockets.forEach((socket) => socket.destroy());
  });
  return `127.0.0.1:${server.address().port}`;
}

const NOWHERE = "127.0.0.1:1";
const WITHIN = 400;

for (const [what, where, cause] of [
  ["no server", () => NOWHERE, /ECONNREFUSED/],
  ["an unknown host", () => "no-such-host.invalid:2181", /ENOTFOUND|EAI_AGAIN/],
  ["a server that says nothing", silent, /not answered/],
]) {
  for (const scheme of ["redis", "zk"]) {
    test(`${scheme}: ${what} is an error with the address and the cause`, async (t) => {
      const at = await where(t);
      const client = await connect(`${scheme}://${at}`, { connectTimeout: WITHIN });
      t.after(() => client.close());
      const lock = client.lock("stock");
      const names = (error) => {
        assert.ok(error instanceof Refused && error.kind === "unreachable", String(error));
        assert.ok(error.message.includes(at), error.message);
        assert.match(error.message, /^stock: .*connectTimeout/);
        assert.match(error.cause.message, cause);
        assert.match(error.message, cause);
        return true;
      };
      for (const acquire of [() => lock.acquire(), () => lock.tryAcquire(), () => lock.acquire({ timeout: 60_000 })]) {
        assert.ok(names(await refusal(acquire, cause)));
      }
    });
  }
}

/** A server whose queue of connections is full: it accepts none. */
async function full(t) {
  const program = `
import socket, sys
server = socket.create_server(("127.0.0.1", 0), backlog=0)
waiting = [socket.socket() for _ in range(3)]
for one in waiting:
    one.setblocking(False)
    one.connect_ex(server.getsockname())
print(server.getsockname()[1], flush=True)
sys.stdin.read()
`;
  const server = spawn("python3", ["-c", program], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => server.stdin.end());
  const [port] = await once(server.stdout, "data");
  return `127.0.0.1:${String(port).trim()}`;
}

/** Waits for a refusal, whose error has the cause. */
async function isUnreachable(client, cause) {
  const error = await refusal(() => client.lock("stock").acquire(), cause);
  assert.ok(error instanceof Refused && error.kind === "unreachable", String(error));
  assert.match(error.message, cause);
  assert.match(error.cause.message, cause);
}

test("a server that accepts no connection is not said to accept one", async (t) => {
  const at = await full(t);
  const clients = REDIS_PEERS.map((peer) => reaching(t, peer, at, WITHIN));
  clients.push(await connect(`zk://${at}`, { connectTimeout: WITHIN }));
  t.after(() => clients.at(-1).close());
  await Promise.all(clients.map((client) => isUnreachable(client, /no connection has been established/)));
});

for (const peer of REDIS_PEERS.filter((one) => one.package === "ioredis")) {
  test(`ioredis, ${peer.age} version: the reason is the sentinels'`, async (t) => {
    const { Redis = (await import(peer.as)).default } = await import(peer.as);
    const isSaid = async (sentinels, cause) => {
      const own = new Redis({ sentinels, name: "unknown", sentinelRetryStrategy: () => 50 });
      own.on("error", () => undefined);
      t.after(() => own.disconnect());
      const client = fromRedis(own, { connectTimeout: WITHIN });
      t.after(() => client.close());
      await isUnreachable(client, cause);
    };
    await isSaid([{ host: "127.0.0.1", port: 1 }], /failed to connect to sentinel 127\.0\.0\.1:1 /);
    await withSentinel(address("FENCEPOST_REDIS"), (place) => isSaid([place], /No such master with that name/));
  });
}

test("zk: a given client whose server is not there: the error has a reason", async (t) => {
  const own = zookeeper.createClient(NOWHERE);
  own.connect();
  t.after(() => own.close());
  const client = fromZooKeeper(own, { connectTimeout: WITHIN });
  t.after(() => client.close());
  await isUnreachable(client, /the given client has no session/);
});

/** A web server. */
async function web(t) {
  const server = http.createServer((_request, response) => response.end("hello")).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `127.0.0.1:${server.address().port}`;
}

const NO_ANSWER = /not answered/;

/** The kind of server at an address, and the text in the cause of the refusal, by library if the libraries differ. */
const ELSEWHERE = [
  ["a wrong port", () => NOWHERE, { redis: /ECONNREFUSED/, ioredis: /ECONNREFUSED/, zk: /ECONNREFUSED/ }],
  [
    "a misspelt host",
    () => "no-such-host.invalid:2181",
    { redis: /ENOTFOUND|EAI_AGAIN/, ioredis: /ENOTFOUND|EAI_AGAIN/, zk: /ENOTFOUND|EAI_AGAIN/ },
  ],
  ["a silent server", silent, { redis: NO_ANSWER, ioredis: NO_ANSWER, zk: NO_ANSWER }],
  ["a web server", web, { redis: /closed/, ioredis: /Protocol error|RESP type/, zk: /is it a ZooKeeper/ }],
  ["a ZooKeeper", () => address("FENCEPOST_ZOOKEEPER"), { redis: /closed/, ioredis: /closed|EPIPE|ECONNRESET/ }],
  ["a Redis", () => address("FENCEPOST_REDIS"), { zk: /is it a ZooKeeper/ }],
];

/**
 * Waits for the refusal of an acquire. While many clients load their libraries, a busy machine's event loop may be
 * blocked for the whole time to connect. Then the refusal has no cause, or the library's own timeout. A later refusal
 * has the expected cause.
 */
async function refusal(acquire, cause) {
  for (let times = 1; ; times++) {
    const error = await within(
      acquire().then(
        () => null,
        (reason) => reason,
      ),
      "the refusal",
    );
    if (cause.test(error?.cause?.message) || times === 4) {
      return error;
    }
  }
}

describe("without options", { concurrency: true }, () => {
  for (const [what, where, causes] of ELSEWHERE) {
    for (const [library, cause] of Object.entries(causes)) {
      const peers = REDIS_PEERS.filter((peer) => peer.package === library);
      const makes = peers.map((peer) => [`${library}, ${peer.age} version`, (t, at) => reaching(t, peer, at)]);
      if (library !== "ioredis") {
        makes.push([`${library}://`, (_t, at) => connect(`${library}://${at}`)]);
      }
      for (const [way, make] of makes) {
        test(`${way}: ${what} is unreachable, with the address, the cause and the remedy`, async (t) => {
          const at = await where(t);
          const client = await make(t, at);
          t.after(() => client.close());
          const names = (error) => {
            assert.ok(error instanceof Refused && error.kind === "unreachable", String(error));
            const { message } = error.cause;
            assert.match(message, cause);
            const beginning = `stock: no server has answered within 5000 ms (${at}: ${message}): check the address`;
            assert.equal(error.message.slice(0, beginning.length), beginning);
            assert.match(error.message, /connectTimeout/);
            return true;
          };
          const lock = client.lock("stock");
          const ways = [() => lock.acquire(), () => lock.tryAcquire(), () => lock.acquire({ timeout: 600_000 })];
          const refusals = await Promise.all(ways.map((acquire) => refusal(acquire, cause)));
          assert.ok(refusals.every(names));
        });
      }
    }
  }
});

test("an acquire with a shorter timeout also says which addresses it has tried", async (t) => {
  for (const scheme of ["redis", "zk"]) {
    const client = await connect(`${scheme}://${NOWHERE}`);
    t.after(() => client.close());
    const error = await refusal(() => client.lock("stock").acquire({ timeout: 300 }), /ECONNREFUSED/);
    assert.ok(error instanceof Refused && error.kind === "unreachable", String(error));
    assert.match(error.message, /127\.0\.0\.1:1.*ECONNREFUSED/);
    assert.match(error.cause.message, /ECONNREFUSED/);
  }
});

for (const [scheme, variable] of [
  ["redis", "FENCEPOST_REDIS"],
  ["zk", "FENCEPOST_ZOOKEEPER"],
]) {
  test(`${scheme}: once there has been a connection, an acquire without a timeout waits`, async (t) => {
    const between = await relay(t, address(variable));
    const client = await connect(`${scheme}://${between.address}?session_timeout=3000`.replace(/(redis.*)\?.*/, "$1"), {
      connectTimeout: 6000,
    });
    t.after(() => client.close());
    const name = unique("later");
    await (await client.lock(name).acquire()).release();
    between.lead(NOWHERE);
    between.silence();
    const waiting = client.lock(name).acquire();
    waiting.catch(() => undefined);
    const early = await Promise.race([
      waiting.then(
        () => "granted",
        (error) => String(error),
      ),
      new Promise((resolve) => setTimeout(resolve, 7500, "waits")),
    ]);
    assert.equal(early, "waits");
    between.lead(address(variable));
    await (await within(waiting, "the grant", 60_000)).release();
  });

  test(`${scheme}: closing during the first connection leaves nothing, and takes no time`, async (t) => {
    for (const at of [NOWHERE, await silent(t)]) {
      for (const before of [
        async () => undefined,
        async (client) => {
          client
            .lock("x")
            .acquire()
            .catch(() => undefined);
          await new Promise((resolve) => setTimeout(resolve, 100));
        },
        (client) =>
          client
            .lock("x")
            .acquire({ signal: AbortSignal.timeout(100) })
            .catch(() => undefined),
        (client) =>
          client
            .lock("x")
            .acquire({ timeout: 100 })
            .catch(() => undefined),
      ]) {
        const client = await connect(`${scheme}://${at}`);
        await before(client);
        // Less than the time that a close waits for replies: there is no server that could reply.
        await within(client.close(), "the end", 4000);
      }
    }
  });
}

test("zk: a connection that a server has accepted and does not answer is made again before a session is over", async (t) => {
  const between = await relay(t, address("FENCEPOST_ZOOKEEPER"));
  const client = await connect(`zk://${between.address}?session_timeout=20000`);
  t.after(() => client.close());
  const grant = await within(client.lock(unique("handshake")).acquire(), "the grant");
  const { signal } = grant;
  // A server that starts does this: it ends the old connections, accepts the next one, and does not reply on it.
  between.mute(true);
  const before = between.accepted;
  between.silence();
  between.end();
  const end = performance.now() + 90_000;
  while (between.accepted === before) {
    assert.ok(performance.now() < end, "no connection");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  between.mute(false);
  const start = performance.now();
  while (!grant.isValid) {
    assert.ok(!signal.aborted, `lost after ${performance.now() - start} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await grant.release();
});

test("zk: a server at an IPv6 address is reached, alone and beside another", async (t) => {
  const { address: at } = await relay(t, address("FENCEPOST_ZOOKEEPER"), "::1");
  for (const hosts of [at, `${NOWHERE},${at}`]) {
    const client = await connect(`zk://${hosts}`);
    t.after(() => client.close());
    const grant = await within(client.lock(unique("v6")).acquire(), "the grant");
    await within(grant.release(), "the release");
  }
});
