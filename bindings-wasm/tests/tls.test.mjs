// Redis with TLS: the trusted certificates, and no connection without TLS.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Redis } from "ioredis";
import { createClient } from "redis";

import { CleanupIncomplete, ConfigError, Refused, connect, fromRedis } from "../dist/index.js";
import { address, control, unique, within } from "./servers.mjs";

const refused = (kind) => (error) => error instanceof Refused && error.kind === kind;

/** An address that leads to the server with TLS; `ca` names the variable with the certificates to trust. */
function url(at = address("FENCEPOST_REDIS_TLS"), ca = "FENCEPOST_REDIS_TLS_CA") {
  return `rediss://:${address("FENCEPOST_REDIS_TLS_PASSWORD")}@${at}?ca=${address(ca)}`;
}

async function operator(t) {
  const ca = await readFile(address("FENCEPOST_REDIS_TLS_CA"));
  const client = createClient({ url: url().split("?")[0], socket: { ca } });
  // Without a listener, a connection that ends would end the test with an uncaught error. The client reconnects.
  client.on("error", () => undefined);
  await client.connect();
  t.after(() => client.destroy());
  return client;
}

/** The caller's own clients, which have the trusted certificates. */
const own = {
  "node-redis": async (at, ca) => {
    const client = createClient({ url: at, socket: { ca, reconnectStrategy: false } });
    client.on("error", () => undefined);
    await client.connect();
    return [fromRedis(client), () => client.destroy()];
  },
  "ioredis": (at, ca) => {
    const client = new Redis(at, { tls: { ca }, retryStrategy: () => 50 });
    client.on("error", () => undefined);
    return [fromRedis(client), () => client.disconnect()];
  },
};

/** Checks that a held lock excludes, and that a message passes it to a waiter. */
async function handOver(t, mine, theirs) {
  const name = unique("tls");
  const bare = await operator(t);
  const grant = await mine.lock(name, { ttl: 3_600_000 }).acquire();
  assert.ok((await bare.pTTL(name)) > 3_000_000);
  const other = theirs.lock(name, { ttl: 3_600_000 });
  assert.equal(await other.tryAcquire(), null);
  const waiting = other.acquire();
  const channel = `{${name}}:released`;
  const end = performance.now() + 90_000;
  while ((await bare.pubSubNumSub(channel))[channel] !== 1) {
    assert.ok(performance.now() < end, "no client has subscribed");
  }
  await grant.release();
  const next = await within(waiting, "the grant");
  assert.ok(next.fence > grant.fence);
  await next.release();
  await bare.del(`{${name}}:fence`);
}

test("a waiter is notified through TLS too", async (t) => {
  const clients = [
    await connect(url()),
    await connect(url(address("FENCEPOST_REDIS_TLS").replace("127.0.0.1", "localhost"))),
  ];
  t.after(() => Promise.all(clients.map((client) => client.close())));
  await handOver(t, ...clients);
});

for (const library of ["node-redis", "ioredis"]) {
  test(`clients of ${library} with TLS`, async (t) => {
    const ca = await readFile(address("FENCEPOST_REDIS_TLS_CA"));
    const [client, end] = await own[library](url().split("?")[0], ca);
    t.after(() => client.close().then(end));
    await handOver(t, client, client);
  });
}

test("ioredis refuses a server with an unknown certificate at once", async (t) => {
  const [client, end] = own.ioredis(url().split("?")[0], await readFile(address("FENCEPOST_REDIS_TLS_OTHER_CA")));
  t.after(() => client.close().then(end));
  await assert.rejects(within(client.lock("x").acquire(), "the refusal"), refused("server-error"));
});

test("a server with an unknown certificate is refused at once", async (t) => {
  const elsewhere = address("FENCEPOST_REDIS_TLS").replace("127.0.0.1", "127.0.0.2");
  for (const [at, code] of [
    [url(undefined, "FENCEPOST_REDIS_TLS_OTHER_CA"), /UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET/],
    [url().split("?")[0], /UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET/],
    [url(elsewhere), /ERR_TLS_CERT_ALTNAME_INVALID/],
  ]) {
    const client = await connect(at);
    t.after(() => client.close());
    await assert.rejects(within(client.lock("x").acquire(), "the refusal"), (error) => {
      assert.ok(refused("server-error")(error), String(error));
      assert.match(error.message, /ERR TLS: /);
      assert.match(error.cause.code, code);
      return true;
    });
  }
});

test("a file of certificates that is none", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "fencepost-"));
  t.after(() => rm(directory, { recursive: true }));
  const empty = join(directory, "empty.pem");
  await writeFile(empty, "nothing");
  for (const path of [join(directory, "missing.pem"), empty]) {
    await assert.rejects(connect(`rediss://:secret@localhost?ca=${path}`), (error) => {
      assert.ok(error instanceof ConfigError && error.kind === "invalid-url");
      assert.ok(error.message.includes(path) && !error.message.includes("secret"));
      return true;
    });
  }
});

test("TLS and no TLS do not mix", async () => {
  const inTheClear = url().replace("rediss:", "redis:").split("?")[0];
  // Such a server waits for the rest of an incomplete command: a close must not wait for it.
  const toTheClear = `rediss://${address("FENCEPOST_REDIS")}`;
  for (const at of [inTheClear, toTheClear]) {
    const client = await connect(at, { connectTimeout: 3000 });
    await assert.rejects(client.lock("x").acquire(), (error) => {
      assert.ok(refused("unreachable")(error), String(error));
      assert.match(error.cause.message, /closed|ECONNRESET|no connection has been established/);
      return true;
    });
    await client.close().catch((error) => assert.ok(error instanceof CleanupIncomplete, String(error)));
  }
});

test("a wrong password over TLS is an error", async (t) => {
  const client = await connect(url().replace(address("FENCEPOST_REDIS_TLS_PASSWORD"), "wrong"));
  t.after(() => client.close());
  await assert.rejects(within(client.lock("x").acquire(), "the refusal"), refused("auth-failed"));
});

test("a cut connection with TLS is made again", async (t) => {
  const proxy = await control("proxy redis-tls");
  t.after(() => control(`proxy-close ${proxy.id}`));
  const client = await connect(url(proxy.address));
  t.after(() => client.close());
  const grant = await client.lock(unique("cut")).acquire();
  await control(`proxy-cut ${proxy.id}`);
  await control(`proxy-heal ${proxy.id}`);
  await within(grant.extend(), "the extension");
  assert.ok(grant.isValid);
  await grant.release();
});
