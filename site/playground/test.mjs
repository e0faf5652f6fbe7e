// Compiles the tests and runs them: `node site/playground/test.mjs`, with prefixes of file names to choose some.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { binding, bundled, esbuild } from "./build.mjs";

const tests = fileURLToPath(new URL("tests", import.meta.url));
const hub = pathToFileURL(join(binding, "dist", "node", "hub.mjs")).href;
const chosen = process.argv.slice(2);
const files = readdirSync(tests)
  .filter((name) => chosen.length === 0 || chosen.some((begin) => name.startsWith(begin)))
  .map((name) => join(tests, name));
const folder = mkdtempSync(join(tmpdir(), "fencepost-playground-"));
try {
  await esbuild.build({
    ...bundled,
    entryPoints: files.filter((path) => path.endsWith(".test.ts")),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    platform: "node",
    // The package reads its modules from files beside its code.
    plugins: [
      {
        name: "package",
        setup: (build) => build.onResolve({ filter: /^fencepost\/hub$/ }, () => ({ path: hub, external: true })),
      },
    ],
  });
  const compiled = readdirSync(folder).map((name) => join(folder, name));
  const all = [...compiled, ...files.filter((path) => path.endsWith(".test.mjs"))];
  const { status } = spawnSync(process.execPath, ["--test", "--test-reporter=spec", ...all], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
