// Client libraries that are missing or too old: the error has a number, and names the package to install.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { installed, root } from "./support/packed.mjs";

const run = promisify(execFile);

let place;
before(async () => {
  place = await installed();
});
after(() => place.remove());

const PROGRAM = `
const [subpath, url] = process.argv.slice(2);
const { connect } = await import(subpath);
const error = await connect(url).then((client) => client.close(), (error) => error);
console.log(error?.name, error?.code, error?.kind, error?.message);
`;

/**
 * The error of `connect` in a program with these packages in its `node_modules`. `as`: the name of each package there.
 */
async function said(subpath, url, packages = {}) {
  const folder = join(place.folder, `program-${Math.random()}`);
  const modules = join(folder, "node_modules");
  await cp(join(place.folder, "node_modules", "fencepost"), join(modules, "fencepost"), { recursive: true });
  for (const [as, from] of Object.entries(packages)) {
    await mkdir(dirname(join(modules, as)), { recursive: true });
    await symlink(join(root, "node_modules", from), join(modules, as));
  }
  await writeFile(join(folder, "main.mjs"), PROGRAM);
  const { stdout } = await run(process.execPath, [join(folder, "main.mjs"), subpath, url]);
  return stdout.trim();
}

const REDIS = "redis://127.0.0.1:1";

for (const [subpath, url, install] of [
  ["fencepost", REDIS, /npm install redis@6, or npm install ioredis@6/],
  ["fencepost/redis", REDIS, /npm install redis@6$/],
  ["fencepost/ioredis", REDIS, /npm install ioredis@6$/],
  ["fencepost", "zk://127.0.0.1:1", /npm install node-zookeeper-client@1.1.3$/],
  ["fencepost/zookeeper", "zk://127.0.0.1:1", /npm install node-zookeeper-client@1.1.3$/],
]) {
  test(`${subpath}: no library for ${url}`, async () => {
    const text = await said(subpath, url);
    assert.match(text, /^DriverError 526 driver-missing /);
    assert.match(text, install);
  });
}

for (const [subpath, packages, install] of [
  ["fencepost", { redis: "redis-4" }, /version of redis .*npm install redis@6$/],
  ["fencepost/redis", { redis: "redis-4" }, /version of redis .*npm install redis@6$/],
  ["fencepost/ioredis", { ioredis: "ioredis-4" }, /version of ioredis .*npm install ioredis@6$/],
]) {
  test(`${subpath}: ${Object.values(packages)[0]} is too old`, async () => {
    const text = await said(subpath, REDIS, packages);
    assert.match(text, /^DriverError 509 driver-unsupported /);
    assert.match(text, install);
  });
}

for (const [subpath, packages] of [
  ["fencepost", { redis: "redis-4", ioredis: "ioredis" }],
  ["fencepost/redis", { redis: "redis-5" }],
  ["fencepost/ioredis", { ioredis: "ioredis-5" }],
  ["fencepost/ioredis", { ioredis: "ioredis" }],
]) {
  test(`${subpath}: ${Object.values(packages).join(" and ")} will do`, async () => {
    assert.equal(await said(subpath, REDIS, packages), "undefined undefined undefined undefined");
  });
}

test("an address of another server: the error says which entry to import", async () => {
  const text = await said("fencepost/redis", "memory:");
  assert.match(text, /^ConfigError 107 unknown-scheme .*import connect from "fencepost"/);
});
