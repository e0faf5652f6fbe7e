// Jest: each test file has its own realm and its own registry of modules, and its timers may be fake.

import assert from "node:assert/strict";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { address, unique } from "./servers.mjs";
import { installed, root, tool } from "./support/packed.mjs";

let place;
before(async () => {
  place = await installed();
  for (const library of ["redis", "ioredis"]) {
    await symlink(join(root, "node_modules", library), join(place.folder, "node_modules", library));
  }
});
after(() => place.remove());

/** The tests of a program. */
const REQUIRED = `
const { ConfigError, InProgress, LockLost, MisuseError, connect, memoryServer } = require("fencepost");
const memory = require("fencepost/memory");

test("a lock, its refusals and its loss", async () => {
  const [client, other] = [await connect("memory:jest"), await memory.connect("memory:jest")];
  const grant = await client.lock("stock/42").acquire();
  expect(typeof grant.fence).toBe("bigint");
  expect(await other.lock("stock/42").tryAcquire()).toBeNull();
  await grant.release();
  await expect(grant.release()).rejects.toBeInstanceOf(MisuseError);
  expect(() => client.lock("")).toThrow(ConfigError);
  const lost = await client.lock("stock/42").acquire();
  (await memoryServer("memory:jest")).session(client).expire();
  expect(await lost.lost).toBeInstanceOf(LockLost);
  await Promise.all([client.close(), other.close()]);
});

test("an operation, with Node's bytes", async () => {
  const client = await connect("memory:");
  const payments = client.idempotency("payments");
  const claim = await payments.claim("order-17", { fingerprint: Buffer.from("17.00") });
  const again = payments.claim("order-17", { fingerprint: Buffer.from("17.00"), wait: false });
  await expect(again).rejects.toBeInstanceOf(InProgress);
  await claim.complete(Buffer.from("receipt"));
  const { result } = await payments.claim("order-17", { fingerprint: "17.00" });
  expect(Buffer.from(result).toString()).toBe("receipt");
  await client.close();
});

test("a wait under fake timers", async () => {
  jest.useFakeTimers();
  const client = await connect("memory:");
  const grant = await client.lock("stock/42").acquire();
  expect(await client.lock("stock/42").acquire({ timeout: 100 })).toBeNull();
  await grant.release();
  await client.close();
  jest.useRealTimers();
});

test("a lock on Redis", async () => {
  const client = await connect(process.env.ADDRESS);
  const grant = await client.lock(process.env.NAME).acquire();
  await grant.extend();
  await grant.release();
  await client.close();
});
`;

const IMPORTED = `
import { LockLost, connect } from "fencepost";

test("a lock", async () => {
  const client = await connect("memory:");
  await client.lock("stock/42").using(() => expect(typeof LockLost).toBe("function"));
  await client.close();
});
`;

/** Runs one file, and returns Jest's output. */
async function jest(file, text, flags = []) {
  await writeFile(join(place.folder, file), text);
  const env = {
    ...process.env,
    ADDRESS: `redis://${address("FENCEPOST_REDIS")}`,
    NAME: unique("jest"),
    NODE_OPTIONS: flags.join(" "),
  };
  const { stderr } = await tool("jest", ["--rootDir", ".", "--testMatch", `**/${file}`], { cwd: place.folder, env });
  return stderr;
}

test("Jest: a file that requires the package", async () => {
  assert.match(await jest("required.test.cjs", REQUIRED), /Tests: +4 passed, 4 total/);
});

test("Jest: a file that imports the package", async () => {
  assert.match(await jest("imported.test.mjs", IMPORTED, ["--experimental-vm-modules"]), /Tests: +1 passed, 1 total/);
});
