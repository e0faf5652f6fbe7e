/** The examples work as described. */

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { type Client, connect } from "fencepost";

import { address, eventually, within } from "./support/servers.js";

const run = promisify(execFile);

/**
 * The package's folder, from `.build/tests`; or the folder where a release is installed, with the examples beside it.
 */
const installed = process.env["FENCEPOST_INSTALLED"];
const root = installed === undefined ? fileURLToPath(new URL("../..", import.meta.url)) : `${installed}/node`;

async function example(name: string, url: string): Promise<string[]> {
  const { stdout } = await run(process.execPath, [`examples/${name}.mjs`, url], { cwd: root, timeout: 60_000 });
  return stdout.trim().split("\n");
}

describe("examples", { concurrency: false }, () => {
  const redis = () => `redis://${address("FENCEPOST_REDIS")}`;
  let other: Client;
  before(async () => {
    other = await connect(redis());
  });
  after(() => other.close());

  it("hub-loop", async () => {
    const [acquired, fence, released] = await example("hub-loop", redis());
    assert.equal(acquired, "acquired");
    assert.match(fence ?? "", /^working with fence \d+$/);
    assert.equal(released, "released");
  });

  it("hub-loop waits for its turn", async () => {
    const grant = await other.lock("stock/42").acquire();
    const child = spawn(process.execPath, ["examples/hub-loop.mjs", redis()], { cwd: root });
    const ended = once(child, "close");
    try {
      const lines: string[] = [];
      const queued = new Promise<void>((resolve) => {
        createInterface(child.stdout).on("line", (line) => {
          lines.push(line);
          resolve();
        });
      });
      await within(60_000, "the queue", queued);
      await grant.release();
      await within(60_000, "the example's end", ended);
      assert.equal(child.exitCode, 0);
      assert.deepEqual([lines[0], lines[1], lines.at(-1)], ["queued", "acquired", "released"]);
    } finally {
      child.kill("SIGKILL");
    }
  });

  for (const url of ["memory:", redis, () => `zk://${address("FENCEPOST_ZOOKEEPER")}/shop`]) {
    it(`shop on ${typeof url === "string" ? url : url().split(":")[0]}`, async () => {
      const [line] = await example("shop", typeof url === "string" ? url : url());
      assert.equal(line, "sold, sold, sold, sold out, sold out, sold out, sold out, sold out");
    });
  }

  for (const url of ["memory:", () => `zk://${address("FENCEPOST_ZOOKEEPER")}/recipes`]) {
    it(`recipes on ${typeof url === "string" ? url : "zk"}`, async () => {
      assert.deepEqual(await example("recipes", typeof url === "string" ? url : url()), [
        "2 readers",
        "the writer came last",
        "one leads",
        "another leads",
        "two presses are enough",
        "given back when asked",
      ]);
    });
  }

  const snippets = readFileSync(`${root}/README.md`, "utf8").matchAll(/^```js\n(.*?)^```$/gms);
  const said = [
    /^sold 42 under fence \d+$/,
    /^ours$/,
    /^true$/,
    /^null\nleading .*\n(printing \d\n?){3}$/,
    /^true$/,
    /^till 7 holds\nanother client/,
    /^\{ paid: 5, reference: '[0-9a-f]{32}' \}\n5 true$/,
    /^application\/pdf 4$/,
    /^true true$/,
  ];
  for (const [index, [, text = ""]] of [...snippets].entries()) {
    it(`the README's snippet ${index + 1}`, async () => {
      const options = { cwd: root, timeout: 60_000 };
      const program = text.replace("localhost:6379", address("FENCEPOST_REDIS"));
      const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], options);
      assert.match(stdout.trim(), said[index] ?? /there is no such snippet/);
    });
  }

  it("leaves nothing held", async () => {
    await eventually(30_000, "the lock", async () => {
      const grant = await other.lock("stock/42").tryAcquire();
      await grant?.release();
      return grant !== null;
    });
  });
});
