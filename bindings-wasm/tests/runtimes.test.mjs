// The package as it is shipped, in each runtime, and the reports of tools that check packages.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { nodeFileTrace } from "@vercel/nft";

import { address, unique } from "./servers.mjs";
import { installed, root, tool } from "./support/packed.mjs";
import { testInWorkerd } from "./support/workerd.mjs";

const run = promisify(execFile);

let place;
before(async () => {
  place = await installed();
});
after(() => place.remove());

const write = (name, text) => writeFile(join(place.folder, name), text);

/** Acquires a lock, and reports it. */
const LOCKS = `
async function locks(connect, url = "memory:", name = "stock/42") {
  const client = await connect(url);
  const grant = await client.lock(name).acquire();
  const held = await client.lock(name).tryAcquire();
  await grant.release();
  await client.close();
  return typeof grant.fence + " " + String(held);
}
`;

/**
 * `import` and `require` in one program: clients of one `memory:NAME` exclude each other, and errors have the same
 * class.
 */
const BOTH = `
import { createRequire } from "node:module";
import { ConfigError, Client, connect } from "fencepost";
const require = createRequire(import.meta.url);
const required = require("fencepost");
const one = await connect("memory:shop");
const two = await required.connect("memory:shop");
const grant = await one.lock("stock/42").acquire();
const held = await two.lock("stock/42").tryAcquire();
const error = await required.connect("nowhere:").catch((error) => error);
console.log(held === null, error instanceof ConfigError, two instanceof Client, require("fencepost/memory").Client === Client);
await one.close();
await two.close();
`;

test("Node.js before it could require modules: import and require share one copy", async () => {
  await write("both.mjs", BOTH);
  // The oldest version does not know this flag, and cannot require ECMAScript modules.
  const flags = ["--no-experimental-require-module"].filter((flag) => process.allowedNodeEnvironmentFlags.has(flag));
  const { stdout } = await run(process.execPath, [...flags, "both.mjs"], { cwd: place.folder });
  assert.equal(stdout.trim(), "true true true true");
});

test("Node.js: every subpath, by import and by require, has the same names", async () => {
  const names = ["", "/redis", "/ioredis", "/zookeeper", "/memory", "/hub"];
  const subpaths = [...names, ...["express", "fastify", "hono"].map((name) => `/web/${name}`)];
  await write(
    "names.mjs",
    `import { createRequire } from "node:module";
     const require = createRequire(import.meta.url);
     for (const subpath of ${JSON.stringify(subpaths)}) {
       const [one, two] = [await import("fencepost" + subpath), require("fencepost" + subpath)];
       const names = Object.keys(two).filter((name) => name !== "default");
       const same = names.every((name) => one[name] === two[name]) && names.length === Object.keys(one).length;
       console.log("fencepost" + subpath, same, names.length > 1);
     }`,
  );
  const { stdout } = await run(process.execPath, ["names.mjs"], { cwd: place.folder });
  assert.deepEqual(
    stdout.trim().split("\n"),
    subpaths.map((subpath) => `fencepost${subpath} true true`),
  );
});

test("Bun: import and require share one copy", async () => {
  await write("both.mjs", BOTH);
  const { stdout } = await tool("bun", ["both.mjs"], { cwd: place.folder });
  assert.equal(stdout.trim(), "true true true true");
});

test("Deno: memory: needs no permission", async () => {
  await write("deno.mjs", `import { connect } from "fencepost";\n${LOCKS}\nconsole.log(await locks(connect));`);
  assert.equal(await deno(place.folder, "deno.mjs"), "bigint null");
});

/** What a program prints in Deno, with these permissions. */
async function deno(folder, program, ...permissions) {
  const env = { ...process.env, DENO_DIR: join(place.folder, "deno"), DENO_NO_UPDATE_CHECK: "1" };
  const flags = ["run", "--no-prompt", "--cached-only", ...permissions];
  return (await tool("deno", [...flags, program], { cwd: folder, env })).stdout.trim();
}

/** A folder with the package, its client library for Redis, and a program that acquires a lock on Redis. */
async function onRedis() {
  const folder = join(place.folder, "redis");
  const packages = join(folder, "node_modules");
  await rm(folder, { recursive: true, force: true });
  await cp(join(place.folder, "node_modules", "fencepost"), join(packages, "fencepost"), { recursive: true });
  await symlink(join(root, "node_modules", "redis"), join(packages, "redis"));
  const target = JSON.stringify([`redis://${address("FENCEPOST_REDIS")}`, unique("runtimes")]);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(
    join(folder, "main.mjs"),
    `import { connect } from "fencepost";\n${LOCKS}\nconsole.log(await locks(connect, ...${target}));`,
  );
  return folder;
}

test("Bun: a lock on Redis", async () => {
  const { stdout } = await tool("bun", ["main.mjs"], { cwd: await onRedis() });
  assert.equal(stdout.trim(), "bigint null");
});

test("Deno: a lock on Redis", async () => {
  // node-redis reads these variables.
  const variables = "--allow-env=REDIS_DEBUG_MAINTENANCE,REDIS_EMIT_DIAGNOSTICS";
  const permissions = ["--allow-net=127.0.0.1", "--allow-sys", variables];
  assert.equal(await deno(await onRedis(), "main.mjs", ...permissions), "bigint null");
});

for (const subpath of ["fencepost", "fencepost/memory"]) {
  test(`workerd: ${subpath}`, async () => {
    const out = join(place.folder, "workerd", subpath.replace("/", "-"));
    await write(
      "worker.mjs",
      `import assert from "node:assert/strict";
       import { connect } from "${subpath}";
       ${LOCKS}
       export default { async test() { assert.equal(await locks(connect), "bigint null"); } };`,
    );
    await testInWorkerd(out, { entryPoints: [join(place.folder, "worker.mjs")] });
  });
}

/** Programs that load the package, by import and by require. */
const LOADS = {
  "import.mjs": (...names) => names.map((name) => `import "${name}";`).join("\n"),
  "require.cjs": (...names) => names.map((name) => `require("${name}");`).join("\n"),
};

for (const [file, loads] of Object.entries(LOADS)) {
  test(`Node.js, ${file}: tools that trace the files of a server find the modules`, async () => {
    await write(file, loads("fencepost"));
    const { fileList } = await nodeFileTrace([join(place.folder, file)], { base: place.folder });
    for (const module of ["zookeeper", "redis", "memory"]) {
      assert.ok(fileList.has(`node_modules/fencepost/dist/modules/${module}.wasm`), [...fileList].join("\n"));
    }
  });

  test(`Node.js, ${file}: without the modules' files, base64 has them`, async () => {
    const folder = join(place.folder, `bare-${file}`);
    const ours = join(folder, "node_modules", "fencepost");
    await cp(join(place.folder, "node_modules", "fencepost"), ours, { recursive: true });
    await rm(join(ours, "dist", "modules"), { recursive: true });
    const subpaths = ["redis", "memory"].map((name) => `fencepost/base64/${name}`);
    await writeFile(
      join(folder, file),
      `${loads(...subpaths)}
       ${LOCKS}
       import("fencepost").then(async ({ connect }) => {
         console.log(await locks(connect));
         await connect("redis://127.0.0.1:1").catch((error) => console.log(error.code));
       });`,
    );
    const { stdout } = await run(process.execPath, [join(folder, file)]);
    // The client library is missing, and not the module.
    assert.equal(stdout.trim(), "bigint null\n526");
  });
}

test("publint has nothing to say", async () => {
  const { stdout } = await tool("publint", [
    "run",
    "--strict",
    "--pack",
    "false",
    join(place.folder, "node_modules", "fencepost"),
  ]);
  assert.match(stdout, /All good!/);
});

test("arethetypeswrong finds nothing wrong", async () => {
  const { exports } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const entries = Object.keys(exports).filter((name) => exports[name].types !== undefined);
  const { stdout } = await tool("attw", [
    place.packed,
    "--profile",
    "node16",
    "--format",
    "json",
    "--entrypoints",
    ...entries,
  ]);
  // The resolution node10 does not support exports, and so finds no subpaths. It finds only the main entry.
  const known = ({ resolutionKind, entrypoint }) => resolutionKind !== "node10" || entrypoint === ".";
  assert.deepEqual(Object.values(JSON.parse(stdout).problems).flat().filter(known), []);
});

/** A program for each subpath, without Node's types. */
const TYPED = `
import { type Grant, LockLost, connect } from "fencepost";
import * as hub from "fencepost/hub";
import * as ioredis from "fencepost/ioredis";
import * as memory from "fencepost/memory";
import * as redis from "fencepost/redis";
import * as zookeeper from "fencepost/zookeeper";
import "fencepost/base64/memory";
export async function main(): Promise<Grant | null> {
  const client: redis.Client = await connect("memory:", { connectTimeout: 100 });
  const others = [redis, ioredis, zookeeper, memory].map((one) => one.connect("memory:"));
  await hub.load("memory");
  const server = new hub.MemoryServer();
  hub.Hub.memory(server, 0);
  await Promise.all(others);
  return client.lock("x").acquire({ timeout: 5 });
}
export const fromRedis: (client: object) => memory.Client = redis.fromRedis;
export { LockLost };
`;

for (const [what, file, options] of [
  ["import in node16", "typed.mts", { module: "Node16", moduleResolution: "Node16" }],
  ["require in node16", "typed.cts", { module: "Node16", moduleResolution: "Node16" }],
  ["a bundler", "typed.mts", { module: "ESNext", moduleResolution: "bundler" }],
  ["an older library", "typed.mts", { module: "Node16", moduleResolution: "Node16", lib: ["ES2020"] }],
]) {
  test(`types without Node's: ${what}`, async () => {
    const common = { target: "ES2022", lib: ["ES2022"], strict: true, skipLibCheck: false, noEmit: true, types: [] };
    await write(file, TYPED);
    await write("tsconfig.json", JSON.stringify({ compilerOptions: { ...common, ...options }, files: [file] }));
    await assert.doesNotReject(tool("tsc", ["--project", place.folder]), (error) => assert.fail(error.stdout) ?? false);
  });
}

test("types with Node's: the web middleware", async () => {
  await mkdir(join(place.folder, "node_modules", "@types"), { recursive: true });
  await symlink(join(root, "node_modules", "@types", "node"), join(place.folder, "node_modules", "@types", "node"));
  await symlink(join(root, "node_modules", "undici-types"), join(place.folder, "node_modules", "undici-types"));
  const text = ["express", "fastify", "hono"]
    .map((name) => `import { idempotent as ${name} } from "fencepost/web/${name}";\nexport { ${name} };\n`)
    .join("");
  await write("web.cts", text);
  const common = { target: "ES2022", lib: ["ES2022"], strict: true, skipLibCheck: false, noEmit: true };
  const options = { ...common, module: "Node16", moduleResolution: "Node16", types: ["node"] };
  await write("tsconfig.json", JSON.stringify({ compilerOptions: options, files: ["web.cts"] }));
  await assert.doesNotReject(tool("tsc", ["--project", place.folder]), (error) => assert.fail(error.stdout) ?? false);
});
