// The table of addresses that all languages share, and the texts about them, which never contain a user or a password.
// Every secret in the table has `sesa` or `same` in it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import { inspect } from "node:util";

import { Redis } from "ioredis";

import { byAddress } from "../dist/drivers/redis/ioredis.js";
import { ConfigError, Refused, connect, parseAddress } from "../dist/index.js";
import { within } from "./servers.mjs";

const rows = JSON.parse(readFileSync(new URL("../../tests/addresses.json", import.meta.url), "utf8"));

function hidesSecrets(...shown) {
  for (const value of shown) {
    assert.doesNotMatch(`${inspect(value, { depth: 9 })} ${String(value)} ${JSON.stringify(value)}`, /sesa|same/);
  }
}

/** For errors that another assertion checks. */
const ignore = () => undefined;

/** The parts of an address, in the form of the table. */
function parts(address) {
  switch (address.kind) {
    case "memory": {
      const { kind, name, sessionTimeout } = address;
      return { kind, name, session_timeout: sessionTimeout };
    }
    case "zookeeper": {
      const { kind, hosts, prefix, sessionTimeout } = address;
      return { kind, hosts: hosts.split(","), prefix, session_timeout: sessionTimeout };
    }
    case "redis": {
      const { kind, host, port, credentials, database, tls, ca } = address;
      return { kind, host, port, ...credentials, database, tls, ca: ca === "" ? null : ca };
    }
  }
}

for (const { url, ...expected } of rows.filter((row) => row.kind !== undefined)) {
  test(`a good address is read: ${url}`, () => {
    const address = parseAddress(url);
    assert.deepEqual(parts(address), expected);
    hidesSecrets(address, { ...address });
  });
}

for (const { url, error, says } of rows.filter((row) => row.error !== undefined)) {
  test(`a bad address is refused: ${url}`, async () => {
    await assert.rejects(connect(url), (caught) => {
      assert.ok(caught instanceof ConfigError);
      assert.equal(caught.kind, error);
      assert.ok(caught.message.includes(says), caught.message);
      hidesSecrets(caught);
      return true;
    });
  });
}

// Nothing listens at port 1.
for (const user of ["u:sesame@", ":se%2Fsa%23me@"]) {
  test(`a client shows no password: ${user}`, async () => {
    const client = await connect(`redis://${user}127.0.0.1:1`);
    const lock = client.lock("stock/42");
    hidesSecrets(client, lock);
    await assert.rejects(lock.acquire({ timeout: 300 }), (caught) => {
      assert.ok(caught instanceof Refused);
      for (let at = caught; at !== undefined; at = at.cause) {
        hidesSecrets(at);
      }
      return true;
    });
    await client.close();
  });
}

/** The first commands of a client to a server that replies "OK" to everything; `open` connects to the server's port. */
async function greeted(host, open) {
  let resolveSaid;
  const said = new Promise((resolve) => (resolveSaid = resolve));
  const server = createServer((socket) => {
    let received = "";
    socket.on("data", (data) => {
      received += data;
      if (received.includes("AUTH")) {
        resolveSaid(received);
      }
      socket.write("+OK\r\n".repeat(String(data).split("*").length - 1));
    });
    socket.on("error", ignore);
  });
  await new Promise((listening) => server.listen(0, host, listening));
  const end = await open(server.address().port);
  try {
    return await within(said, "the password");
  } finally {
    await end();
    server.close();
  }
}

test("an IPv6 address and its decoded password reach the server: node-redis", async () => {
  const received = await greeted("::1", async (port) => {
    const client = await connect(`redis://u:p%40ss@[::1]:${port}`);
    const acquired = client.lock("stock/42").acquire({ timeout: 60_000 }).catch(ignore);
    return () => Promise.all([client.close().catch(ignore), acquired]);
  });
  assert.match(received, /AUTH\r\n\$1\r\nu\r\n\$4\r\np@ss\r\n/);
});

test("an IPv6 address and its decoded password reach the server: ioredis", async () => {
  const received = await greeted("::1", (port) => {
    const library = byAddress(Redis, parseAddress(`redis://u:p%40ss@[::1]:${port}`), undefined);
    const opening = library.open(ignore);
    opening.session.catch(ignore);
    return () => opening.end();
  });
  assert.match(received, /auth\r\n\$1\r\nu\r\n\$4\r\np@ss\r\n/i);
});
