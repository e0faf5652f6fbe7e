// Runs a worker, bundled for workerd.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import esbuild from "esbuild";

import { tool } from "./packed.mjs";

/**
 * Bundles a worker into a folder, and runs its test.
 *
 * @param {string} folder
 * @param {import("esbuild").BuildOptions} input the worker, as input of esbuild: `entryPoints` or `stdin`
 */
export async function testInWorkerd(folder, input) {
  const { metafile } = await esbuild.build({
    ...input,
    outfile: join(folder, "worker.js"),
    bundle: true,
    format: "esm",
    platform: "browser",
    conditions: ["workerd"],
    external: ["node:*"],
    loader: { ".wasm": "copy" },
    assetNames: "[name]",
    metafile: true,
    logLevel: "silent",
  });
  const modules = Object.keys(metafile.outputs)
    .filter((path) => path.endsWith(".wasm"))
    .map((path) => path.split("/").at(-1))
    .map((name) => `(name = "${name}", wasm = embed "${name}")`);
  await writeFile(
    join(folder, "worker.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
     const config :Workerd.Config = (services = [(name = "main", worker = .worker)]);
     const worker :Workerd.Worker = (
       modules = [(name = "worker.js", esModule = embed "worker.js"), ${modules.join(", ")}],
       compatibilityDate = "2025-01-01",
       compatibilityFlags = ["nodejs_compat"],
     );`,
  );
  const { stderr } = await tool("workerd", ["test", join(folder, "worker.capnp")]);
  assert.match(stderr, /PASS/);
}
