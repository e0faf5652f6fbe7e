/** The package as it is shipped: its size, its use without Node.js, and the calls that keep a process alive. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { constants, gzipSync } from "node:zlib";

import { type Client, type Grant, LockLost, connect } from "fencepost";

import { fresh } from "./support/backends.js";
import { address, eventually } from "./support/servers.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

type Source = () => number;

const { clockOf } = (await import(new URL("../../dist/clock.js", import.meta.url).href)) as {
  clockOf: (steady: Source, wall: Source, uptime: Source | null) => Source;
};

/** Runs a program in a separate process, which has to end by itself. */
async function program(text: string): Promise<{ readonly said: string }> {
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", text], {
    cwd: root,
    timeout: 60_000,
  });
  return { said: stdout.trim() };
}

/**
 * The size limits of the modules, gzipped, in KiB: one for each kind of server, and one for the server behind
 * `memory:`.
 */
const LIMITS = { zookeeper: 104, redis: 72, memory: 24 };

describe("package", { concurrency: false }, () => {
  for (const [name, limit] of Object.entries(LIMITS)) {
    it(`has a small module: ${name}`, (t) => {
      const module = readFileSync(new URL(`dist/modules/${name}.wasm`, `file://${root}/`));
      const size = gzipSync(module, { level: constants.Z_BEST_COMPRESSION }).length;
      t.diagnostic(`${name}: ${module.length} bytes, ${(size / 1024).toFixed(1)} KiB gzipped`);
      assert.ok(size <= limit * 1024, `${size} bytes gzipped`);
    });
  }

  it("compiles what the server of a client needs", async () => {
    const { said } = await program(`
      let compiled = 0;
      WebAssembly.Module = class extends WebAssembly.Module {
        constructor(...parameters) {
          super(...parameters);
          compiled += 1;
        }
      };
      const { MemoryServer, connect } = await import("fencepost");
      const counts = [compiled];
      for (const url of ["redis://127.0.0.1:1", "zk://127.0.0.1:1", "memory:", "memory:", "redis://127.0.0.1:1"]) {
        await (await connect(url)).close();
        counts.push(compiled);
      }
      new MemoryServer();
      console.log(...counts, compiled);
    `);
    assert.equal(said, "0 1 2 3 3 3 3");
  });

  it("runs where there is no Node.js", async () => {
    const { said } = await program(`
      for (const name of ["process", "Buffer", "setImmediate"]) delete globalThis[name];
      await import("./dist/base64/memory.js");
      const { connect } = await import("./dist/index.js");
      const client = await connect("memory:");
      const grant = await client.lock("x").acquire();
      console.log(typeof grant.fence);
      await grant.release();
      await client.close();
    `);
    assert.equal(said, "bigint");
  });

  it("loads the middleware where there is no Node.js, and no framework with it", async () => {
    const { said } = await program(`
      for (const name of ["process", "Buffer", "setImmediate"]) delete globalThis[name];
      const { idempotent } = await import("fencepost/web/hono");
      console.log(typeof idempotent);
    `);
    assert.equal(said, "function");
    for (const name of ["express", "fastify", "hono"]) {
      const sources = readdirSync(`${root}/dist/web`).filter((file) => file.endsWith(".js"));
      for (const source of sources) {
        assert.ok(!readFileSync(`${root}/dist/web/${source}`, "utf8").includes(`from "${name}"`), source);
      }
    }
  });

  it("loads the middleware only for a program that imports it", async () => {
    const { said } = await program(`
      const { Module } = await import("node:module");
      await import("fencepost");
      console.log(Object.keys(Module._cache).join());
    `);
    assert.match(said, /dist\/cjs\/index.js/);
    assert.doesNotMatch(said, /\/web-/);
  });

  for (const [name, url] of [
    ["memory", () => "memory:"],
    ["ZooKeeper", () => `zk://${address("FENCEPOST_ZOOKEEPER")}`],
    ["Redis", () => `redis://${address("FENCEPOST_REDIS")}`],
    ["a server that is not there", () => "zk://127.0.0.1:1"],
    ["a Redis that is not there", () => "redis://127.0.0.1:1"],
  ] as const) {
    it(`keeps no process alive: ${name}`, async () => {
      const held = name.includes("not there") ? "" : `await client.lock("${fresh()}").acquire();`;
      const { said } = await program(`
        import { connect } from "fencepost";
        const client = await connect("${url()}");
        ${held}
        console.log("held");
      `);
      assert.equal(said, "held");
    });
  }

  it("keeps the process alive for a call that is waited for", async () => {
    const { said } = await program(`
      import { connect } from "fencepost";
      const client = await connect("memory:");
      const grant = await client.lock("x").acquire();
      console.log(await client.lock("x").acquire({ timeout: 100 }));
    `);
    assert.equal(said, "null");
  });

  for (const [what, begin] of [
    ["the body of using", 'client.lock("x").using(wait)'],
    ["the function of once", 'client.idempotency("x").once(wait, { key: () => "x" })()'],
  ] as const) {
    it(`keeps the process alive for ${what}`, async () => {
      const { said } = await program(`
        import { connect } from "fencepost";
        const client = await connect("memory:");
        const wait = () => new Promise((resolve) => setTimeout(resolve, 300).unref());
        await ${begin};
        console.log("ended");
      `);
      assert.equal(said, "ended");
    });
  }

  it("lets a process end after a close, whatever it calls then, though a body of using has not ended", async () => {
    const { said } = await program(`
      import { connect } from "fencepost";
      const client = await connect("memory:");
      const grant = await client.lock("x").acquire();
      const begun = new Promise((resolve) => {
        client.lock("y").using(() => new Promise(resolve)).catch(() => undefined);
      });
      await begun;
      await client.close();
      console.log(await grant.release().catch((error) => error.kind));
    `);
    assert.equal(said, "lost-connection-closed");
  });

  it("lets a process end at once after a close, if ioredis's connections have failed", async () => {
    const { said } = await program(`
      import { connect } from "fencepost/ioredis";
      const client = await connect("redis://127.0.0.1:1", { connectTimeout: 300 });
      console.log(await client.lock("x").acquire().catch((error) => error.kind));
      await client.close();
      const closed = performance.now();
      process.on("exit", () => console.log(performance.now() - closed < 3000));
    `);
    assert.equal(said, "unreachable\ntrue");
  });

  it("loads and works where only node:util has the classes for texts, as in jsdom", async () => {
    const { said } = await program(`
      delete globalThis.TextDecoder;
      delete globalThis.TextEncoder;
      const { connect } = await import("fencepost");
      const client = await connect("memory:");
      const pay = client.idempotency("payments").once(() => "paid", { key: () => "order-17" });
      console.log(await pay(), (await pay.outcome()).replayed);
      await client.close();
    `);
    assert.equal(said, "paid true");
  });

  it("releases a grant without a reference", { timeout: 90_000 }, async () => {
    const { gc } = globalThis;
    assert.ok(gc, "run with --expose-gc");
    for (const url of ["memory:", `redis://${address("FENCEPOST_REDIS")}`]) {
      const client = await connect(url);
      const name = fresh();
      await drop(client, name);
      await eventually(30_000, "the release", async () => {
        gc();
        const grant = await client.lock(name).tryAcquire();
        await grant?.release();
        return grant !== null;
      });
      await client.close();
    }
  });

  it("aborts the signals of its grants when a client is closed", async () => {
    const client = await connect("memory:");
    const grant: Grant = await client.lock(fresh()).acquire();
    const { signal } = grant;
    globalThis.gc?.();
    assert.equal(signal.aborted, false);
    assert.equal(grant.isValid, true);
    await client.close();
    await eventually(10_000, "the signal", () => signal.aborted);
    assert.ok(signal.reason instanceof LockLost && signal.reason.kind === "lost-connection-closed");
  });
});

/** A separate function, so that no variable refers to the grant. */
async function drop(client: Client, name: string): Promise<void> {
  await client.lock(name).acquire();
}

describe("clock", () => {
  it("moves forward by a suspend, and not by a step of the wall clock", () => {
    let steady = 1000;
    let wall = 50_000;
    let up = 9000;
    const now = clockOf(
      () => steady,
      () => wall,
      () => up,
    );
    assert.equal(now(), 1000);
    // The wall clock is set: nothing has happened.
    wall += 3_600_000;
    assert.equal(now(), 1000);
    wall -= 7_200_000;
    assert.equal(now(), 1000);
    // A suspend of ten seconds: the steady clock stopped.
    wall += 10_000;
    up += 10_000;
    const after = now();
    assert.ok(after >= 11_000 && after < 11_100, String(after));
    // The clock also notices it if the wall clock has not moved, or was set back.
    up += 5000;
    steady += 300;
    up += 300;
    wall += 300;
    assert.ok(now() >= 16_300);
    const last = now();
    steady += 1;
    assert.equal(now(), last + 1);
  });

  it("is the steady one where the time since the start of the machine is unknown", () => {
    const now = clockOf(
      () => 5,
      () => 7,
      null,
    );
    assert.equal(now(), 5);
  });
});
