// Habits of JavaScript programs: fake timers, loops without pauses, one signal for many waits, logs, types without
// Node.js.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

import FakeTimers from "@sinonjs/fake-timers";
import zookeeper from "node-zookeeper-client";

import { ConfigError, connect, fromZooKeeper } from "../dist/index.js";
import { address, backends, unique, within } from "./servers.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const real = { setTimeout, clearTimeout };

/** As `within`, with the original timers. */
function soon(promise, what) {
  return new Promise((resolve, reject) => {
    const timer = real.setTimeout(() => reject(new Error(`${what} has not come`)), 90_000);
    promise.then(resolve, reject).finally(() => real.clearTimeout(timer));
  });
}

/**
 * The functions that the client libraries need: node-redis writes in an immediate, and node-zookeeper-client connects
 * in a tick.
 */
const THEIRS = { "memory:": [], "redis:": ["setImmediate", "clearImmediate", "nextTick", "queueMicrotask"] };
THEIRS["zk:"] = THEIRS["redis:"];

/** A lease or a session, in ms: it ends during a test unless it is renewed, and is long enough for a busy machine. */
const LASTS = 6000;

for (const [backend, url] of Object.entries(backends)) {
  test(`${backend} waits end while a test has replaced all timers`, async (t) => {
    const client = await connect(url().replace(/session_timeout=\d+$/, `session_timeout=${LASTS}`));
    const name = unique("fake");
    const lock = client.lock(name, backend === "redis:" ? { ttl: LASTS } : {});
    const grant = await within(lock.acquire(), "the grant");
    const clock = FakeTimers.install({ toNotFake: THEIRS[backend] });
    t.after(() => clock.uninstall());
    assert.equal(await soon(lock.acquire({ timeout: LASTS + 2000 }), "the timeout"), null);
    // The lease was renewed meanwhile.
    assert.ok(grant.isValid);
    const waiting = lock.acquire();
    await soon(grant.release(), "the release");
    await soon(
      waiting.then((next) => next.release()),
      "the next grant",
    );
    await soon(client.close(), "the end");
  });
}

async function cycles(client, times) {
  for (let time = 0; time < times; time++) {
    const grant = await client.lock(`loop-${time % 100}`).acquire();
    await grant.release();
  }
}

test("memory: a loop that never rests collects nothing", async () => {
  const client = await connect("memory:");
  const used = async (times) => {
    await cycles(client, times);
    globalThis.gc();
    return process.memoryUsage().heapUsed;
  };
  // So many cycles that occasional allocations of V8 (compiled code, a table of twice the size) are small for each
  // cycle.
  const times = 60_000;
  let [before, each] = [await used(20_000), Infinity];
  // A leak grows in every round, and the allocations of V8 do not.
  for (let round = 0; round < 4; round++) {
    const after = await used(times);
    each = Math.min(each, (after - before) / times);
    before = after;
  }
  // The cells of finalizers stay until the loop pauses: 36 bytes for the lock, and 36 for the grant. A third cell would
  // exceed the limit.
  assert.ok(each < 72 + 18, `${each} bytes a cycle`);
  await client.close();
});

test("memory: a loop with rests needs no further memory, in WebAssembly either", async () => {
  const client = await connect("memory:");
  const used = async (rounds) => {
    for (let round = 0; round < rounds; round++) {
      await cycles(client, 500);
      globalThis.gc();
      // The finalizers run now.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = await used(20);
  const each = ((await used(20)) - before) / 10_000;
  assert.ok(each < 50, `${each} bytes a cycle`);
  await client.close();
});

test("one signal for many waits causes no warning of a leak", async (t) => {
  const warnings = [];
  const warn = (warning) => warnings.push(warning.message);
  process.on("warning", warn);
  t.after(() => process.off("warning", warn));
  const client = await connect("memory:");
  t.after(() => client.close());
  const lock = client.lock("signal");
  const grant = await lock.acquire();
  const controller = new AbortController();
  const { signal } = controller;
  const waits = Array.from({ length: 50 }, () => lock.acquire({ signal }));
  const refused = Promise.allSettled(waits);
  await new Promise((resolve) => setTimeout(resolve, 20));
  controller.abort(new Error("enough"));
  assert.ok((await refused).every(({ status, reason }) => status === "rejected" && reason.message === "enough"));
  assert.deepEqual(warnings, []);
  await grant.release();
});

/** A signal like that of the package `abort-controller`: without a reason, and without `throwIfAborted`. */
class Polyfill extends EventTarget {
  aborted = false;
  abort() {
    this.aborted = true;
    this.dispatchEvent(new Event("abort"));
  }
}

test("the signal of a polyfill cancels a call, before it and in it", async (t) => {
  const client = await connect("memory:");
  t.after(() => client.close());
  const [lock, operations] = [client.lock("polyfill"), client.idempotency("polyfill")];
  const grant = await lock.acquire();
  const claim = await operations.claim("polyfill");
  const signal = new Polyfill();
  const calls = () => [lock.acquire({ signal }), operations.claim("polyfill", { signal })];
  const waiting = calls();
  setTimeout(() => signal.abort(), 10);
  for (const call of waiting) {
    await assert.rejects(within(call, "the end"), { name: "AbortError" });
  }
  for (const call of calls()) {
    await assert.rejects(call, { name: "AbortError" });
  }
  await grant.release();
  await claim.release();
});

test("zk: an acquire that times out leaves no watch", async (t) => {
  const own = zookeeper.createClient(address("FENCEPOST_ZOOKEEPER"), { sessionTimeout: 60_000 });
  own.connect();
  t.after(() => own.close());
  const client = fromZooKeeper(own, { prefix: "/js-watches" });
  t.after(() => client.close());
  const holder = await connect(`zk://${address("FENCEPOST_ZOOKEEPER")}/js-watches`);
  t.after(() => holder.close());
  const { watcherManager } = own.connectionManager;
  const watched = () =>
    Object.keys(watcherManager.dataWatchers).length + Object.keys(watcherManager.childWatchers).length;
  for (const kind of ["lock", "election"]) {
    const name = unique("watch");
    const grant = await within(holder[kind](name).acquire(), "the grant");
    const before = watched();
    for (let time = 0; time < 3; time++) {
      // Each attempt takes this long: even a busy server has reported by then that the lock is held.
      assert.equal(await client[kind](name).acquire({ timeout: 2000 }), null);
    }
    for (const end = performance.now() + 90_000; watched() !== before;) {
      assert.ok(performance.now() < end, `${kind}: ${watched()} watches`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await grant.release();
  }
});

test("zk: waiters for a permit that time out leave no watch, neither of the permits nor of their predecessors", async (t) => {
  const own = zookeeper.createClient(address("FENCEPOST_ZOOKEEPER"), { sessionTimeout: 60_000 });
  own.connect();
  t.after(() => own.close());
  const client = fromZooKeeper(own, { prefix: "/js-watches" });
  t.after(() => client.close());
  const holder = await connect(`zk://${address("FENCEPOST_ZOOKEEPER")}/js-watches?session_timeout=60000`);
  t.after(() => holder.close());
  const { watcherManager } = own.connectionManager;
  const watched = (what) =>
    Object.values(watcherManager[what]).reduce((count, one) => count + one.listenerCount("notification"), 0);
  const counts = () => [watched("childWatchers"), watched("dataWatchers")];
  const until = async (what, holds) => {
    const end = performance.now() + 90_000;
    while (!(await holds())) {
      assert.ok(performance.now() < end, `${what}: ${counts()}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const name = unique("permit");
  const grant = await within(holder.semaphore(name, 1).acquire(), "the permit");
  const before = counts();
  const semaphore = client.semaphore(name, 1);
  // The first in the line watches the permits, until it leaves.
  const controller = new AbortController();
  const first = assert.rejects(semaphore.acquire({ signal: controller.signal }), { name: "AbortError" });
  await until("a watch of the permits", () => watched("childWatchers") > before[0]);
  controller.abort();
  await first;
  await until("the end of its watches", () => String(counts()) === String(before));
  for (let round = 0; round < 2; round++) {
    assert.equal(await within(semaphore.acquire({ timeout: 2000 }), "the timeout"), null);
  }
  await until("the end of the first one's watches", () => String(counts()) === String(before));
  // Another one waits before it, and stays.
  const waiting = holder.semaphore(name, 1).acquire();
  await until("another waiter", async () => (await holder.semaphore(name, 1).contenders()).length >= 2);
  for (let round = 0; round < 2; round++) {
    assert.equal(await within(semaphore.acquire({ timeout: 2000 }), "the timeout"), null);
  }
  await until("the end of the second one's watches", () => String(counts()) === String(before));
  await grant.release();
  await (await within(waiting, "the permit")).release();
});

test("grants, clients and errors say in a log what they are", async () => {
  const client = await connect("memory:");
  const grant = await client.lock("stock/42").acquire();
  assert.match(inspect(grant), /^Grant \{.*name: 'stock\/42'.*fence: \d+n.*isValid: true/s);
  assert.match(inspect(client), /^Client \{ at: 'memory:', closed: false \}$/);
  const logged = JSON.parse(JSON.stringify({ grant }));
  assert.equal(logged.grant.name, "stock/42");
  assert.equal(logged.grant.fence, String(grant.fence));
  await grant.release();
  const error = await grant.release().catch((error) => error);
  const { name, code, kind, message } = JSON.parse(JSON.stringify(error));
  assert.deepEqual([name, code, kind], ["MisuseError", 205, "not-held"]);
  assert.match(message, /stock\/42/);
  await client.close();
});

test("memory: takes the options of a lock on Redis, and checks them", async (t) => {
  const client = await connect("memory:");
  t.after(() => client.close());
  const grant = await client.lock("stock/42", { ttl: 10_000, renew: false, margin: 2, poll: 50 }).acquire();
  assert.equal(grant.isValid, true);
  await grant.release();
  for (const options of [
    { ttl: 0 },
    { ttl: -1 },
    { ttl: "10" },
    { poll: NaN },
    { renew: 1 },
    { ttl: 100, margin: 90 },
  ]) {
    assert.throws(() => client.lock("x", options), ConfigError, JSON.stringify(options));
  }
});

/** A folder in which the package is installed, and nothing else. */
function project(t) {
  const folder = mkdtempSync(join(tmpdir(), "fencepost-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "fencepost"));
  return folder;
}

const COMMON = { target: "ES2022", strict: true, skipLibCheck: false, noEmit: true, types: [], preserveSymlinks: true };
for (const [what, options] of [
  ["NodeNext, without Node's types", { lib: ["ES2022", "DOM"], module: "NodeNext", moduleResolution: "NodeNext" }],
  ["a bundler's, with no types but the language's", { lib: ["ES2022"], module: "ESNext", moduleResolution: "bundler" }],
  ["the oldest resolution, which knows no exports", { lib: ["ES2022"], module: "ESNext", moduleResolution: "node10" }],
]) {
  test(`types: ${what}`, (t) => {
    const folder = project(t);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(
      join(folder, "main.ts"),
      `import { type Grant, LockLost, connect, fromRedis, fromZooKeeper } from "fencepost";
       const client = await connect("memory:", { connectTimeout: 100 });
       const grant: Grant | null = await client.lock("x", { ttl: 100 }).acquire({ timeout: 5 });
       const aborted: boolean | undefined = grant?.signal.aborted;
       export { LockLost, aborted, fromRedis, fromZooKeeper };`,
    );
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...COMMON, ...options }, files: ["main.ts"] }),
    );
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    try {
      execFileSync(process.execPath, [tsc, "--project", folder]);
    } catch (error) {
      assert.fail(String(error.stdout));
    }
  });
}

test("types: TypeScript before 5.7 knows no kinds of Uint8Array", () => {
  const declared = readdirSync(join(root, "dist"), { recursive: true }).filter((path) => /\.d\.m?ts$/.test(path));
  assert.ok(declared.length > 50);
  assert.deepEqual(
    declared.filter((path) => readFileSync(join(root, "dist", path), "utf8").includes("Uint8Array<")),
    [],
  );
});

test("the package carries its licence", () => {
  const packed = execFileSync("npm", ["pack", "--dry-run", "--json"], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(packed);
  assert.ok(files.some(({ path }) => path === "LICENSE"));
  const text = (path) => readFileSync(join(root, path), "utf8");
  assert.equal(text("LICENSE"), text("../LICENSE"));
});
