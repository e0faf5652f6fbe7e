// Builds the playground into a folder: `node site/playground/build.mjs FOLDER`. The page loads `code/main.js` and
// `code/main.css`; the WebAssembly modules are in `modules`, where the package's code expects them.
import { cp, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
export const binding = fileURLToPath(new URL("../../bindings-wasm/", import.meta.url));

/** What bundles the sources, for the page and for the tests. */
export const esbuild = createRequire(join(binding, "package.json"))("esbuild");
export const bundled = {
  bundle: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  nodePaths: [join(binding, "node_modules")],
  logLevel: "warning",
  // wasm-bindgen writes objects with duplicate keys, whose values are the same.
  logOverride: { "duplicate-object-key": "silent" },
};

async function build(folder) {
  await esbuild.build({
    ...bundled,
    entryPoints: [join(here, "page", "main.tsx")],
    outdir: join(folder, "code"),
    platform: "browser",
    minify: true,
    alias: { "fencepost/hub": join(binding, "dist", "entries", "hub.js") },
  });
  const modules = join(folder, "modules");
  await mkdir(modules, { recursive: true });
  for (const name of ["memory.wasm", "zookeeper.wasm"]) {
    await cp(join(binding, "dist", "modules", name), join(modules, name));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    console.error("usage: node site/playground/build.mjs FOLDER");
    process.exitCode = 2;
  } else {
    await build(folder);
  }
}
