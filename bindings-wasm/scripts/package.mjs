// Builds the code around the modules. There are two copies of the code, and no program in Node.js loads both:
//
// - `dist`: ECMAScript modules, for bundlers, browsers, Deno, Bun and workerd;
// - `dist/cjs`: CommonJS, for Node.js. `dist/node` has ECMAScript modules that export the same objects, so `import` and
//   `require` share clients, settings and classes of errors. Node.js 20.16 cannot require an ECMAScript module.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { nodeResolve } from "@rollup/plugin-node-resolve";
import { rollup } from "rollup";

const here = fileURLToPath(new URL("..", import.meta.url));
const dist = join(here, "dist");
const modules = join(dist, "modules");
const names = readdirSync(modules).map((file) => basename(file, ".wasm"));

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

for (const entry of readdirSync(dist)) {
  if (!["modules", "hub"].includes(entry)) {
    rmSync(join(dist, entry), { recursive: true });
  }
}

const tsc = join(here, "node_modules", "typescript", "bin", "tsc");
try {
  execFileSync(process.execPath, [tsc, "--project", join(here, "tsconfig.json")], { stdio: "pipe" });
} catch (error) {
  process.stderr.write(error.stdout);
  process.exit(1);
}

for (const name of names) {
  const text = readFileSync(join(modules, `${name}.wasm`)).toString("base64");
  write(join(dist, "base64", "text", `${name}.js`), `export const base64 =\n  "${text}";\n`);
  // For runtimes that import a module: workerd, and Deno, which reads no file without a permission.
  for (const [runtime, source] of Object.entries({ workerd: "", deno: "source " })) {
    const path = join(dist, "locations", runtime, `${name}.js`);
    write(path, `import ${source}module from "../../modules/${name}.wasm";\nexport const location = () => module;\n`);
  }
}

const { exports } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
/** Replaces the imports of the modules' locations by imports of files in the same folder. */
const locations = {
  name: "locations",
  resolveId: (id) =>
    id.startsWith("#location/") ? { id: `./${id.slice(1).replace("/", "-")}.js`, external: true } : null,
};

/**
 * Bundlers accept a missing client library if its `require` is directly in a `try`, and not in a function inside it.
 */
const libraries = {
  name: "libraries",
  renderDynamicImport: ({ moduleId }) =>
    moduleId.startsWith(join(dist, "libraries"))
      ? { left: "((all) => ({ ...all, default: all }))(require(", right: "))" }
      : null,
};

/** The files that programs import: for each file of `dist`, its name in `dist/cjs` and `dist/node`. */
const entries = Object.values(exports)
  .filter((conditions) => conditions.node?.import !== undefined)
  .map((conditions) => [relative(dist, join(here, conditions.default)), basename(conditions.require, ".js")]);

const inputs = [...entries, ...names.map((name) => [join("base64", `${name}.js`), `base64-${name}`])];
const bundle = await rollup({
  input: Object.fromEntries(inputs.map(([path, name]) => [name, join(dist, path)])),
  external: ["redis", "ioredis", "node-zookeeper-client", /^node:/],
  onLog: (level, log) => {
    throw new Error(`${level}: ${log.message}`);
  },
  plugins: [locations, libraries, nodeResolve()],
});
await bundle.write({
  dir: join(dist, "cjs"),
  format: "cjs",
  chunkFileNames: "[name]-[hash].js",
  dynamicImportInCjs: false,
  esModule: true,
  externalLiveBindings: false,
});
await bundle.close();
write(join(dist, "cjs", "package.json"), '{ "type": "commonjs" }\n');
for (const name of names) {
  // Tools that copy a server's files (Next.js, Vercel's nft and ncc) recognise this form, in a file with old syntax.
  const place = `__dirname + "/../modules/${name}.wasm"`;
  write(
    join(dist, "cjs", `location-${name}.js`),
    `"use strict";\nexports.location = () => require("node:fs").readFileSync(${place});\n`,
  );
}

const require = createRequire(import.meta.url);
for (const [path, name] of entries) {
  const exported = Object.keys(require(join(dist, "cjs", `${name}.js`)));
  const given = exported.length === 0 ? "" : `export const { ${exported.join(", ")} } = entry;\n`;
  write(join(dist, "node", `${name}.mjs`), `import entry from "../cjs/${name}.js";\n${given}`);
  write(join(dist, "node", `${name}.d.mts`), `export * from "../cjs/${path}";\n`);
}
