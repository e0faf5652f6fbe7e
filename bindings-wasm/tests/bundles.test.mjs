// Bundles: the bundle of each bundler runs without the client libraries, in Node.js and in a browser.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { constants, gzipSync } from "node:zlib";

import { nodeResolve } from "@rollup/plugin-node-resolve";
import esbuild from "esbuild";
import { rollup } from "rollup";
import { build } from "vite";
import webpack from "webpack";

import { shown } from "./support/chromium.mjs";
import { installed } from "./support/packed.mjs";

const run = promisify(execFile);

/** The bundled program: it acquires a lock, and connects to a server whose library is not installed. */
const PROGRAM = `
import { connect, load, MemoryServer } from "fencepost";
async function main() {
  await load("memory");
  const client = await connect("memory:");
  const grant = await client.lock("stock/42").acquire();
  const held = await client.lock("stock/42").tryAcquire();
  await grant.release();
  await client.close();
  const elsewhere = [];
  for (const url of ["redis://localhost", "zk://localhost"]) {
    elsewhere.push(await connect(url).then(() => "connected", (error) => error.code + " " + error.message));
  }
  return [typeof grant.fence, held === null, new MemoryServer().takeWoken().length, ...elsewhere].join(" | ");
}
main().then(show, (error) => show("failed: " + error.code + " " + error.stack));
function show(text) {
  if (typeof document === "undefined") console.log(text);
  else fetch("/shown", { method: "POST", body: text });
}
`;

const SAYS = /bigint \| true \| 0 \| 526 [^|]*npm install redis[^|]* \| 526 [^|]*npm install node-zookeeper-client/;

/** For bundlers that do not copy the modules' files. */
const INLINE = `import "fencepost/base64/memory";\nimport "fencepost/base64/redis";\n${PROGRAM}`;

let place;
before(async () => {
  place = await installed();
  await writeFile(join(place.folder, "main.js"), PROGRAM);
  await writeFile(join(place.folder, "inline.js"), INLINE);
});
after(() => place.remove());

/** esbuild's bundle of a program. */
function esbuilt(entry, out, browser, more = {}) {
  return esbuild.build({
    entryPoints: [join(place.folder, entry)],
    outfile: out,
    bundle: true,
    minify: true,
    metafile: true,
    format: "esm",
    platform: browser ? "browser" : "node",
    logLevel: "silent",
    ...more,
  });
}

/** Each makes `main.mjs`, or for a browser a page, in a folder. */
const BUNDLERS = {
  esbuild: (out, browser) => esbuilt("inline.js", join(out, "main.mjs"), browser),
  webpack: (out, browser) =>
    new Promise((resolve, reject) => {
      const configuration = {
        mode: "production",
        context: place.folder,
        entry: join(place.folder, "main.js"),
        target: browser ? "web" : "node20",
        experiments: { outputModule: true },
        output: { path: out, filename: "main.mjs", module: true },
      };
      webpack(configuration, (error, stats) => {
        if (error !== null) {
          reject(error);
        } else if (stats.hasErrors()) {
          reject(new Error(stats.toString({ all: false, errors: true })));
        } else {
          resolve();
        }
      });
    }),
  Rollup: async (out, browser) => {
    const made = await rollup({
      input: join(place.folder, "inline.js"),
      // Rollup reports the client libraries that it leaves out: they are not installed.
      onLog: (_level, { code, exporter, message }) => {
        const isAbsent =
          code === "UNRESOLVED_IMPORT" && ["redis", "ioredis", "node-zookeeper-client"].includes(exporter);
        assert.ok(isAbsent, message);
      },
      plugins: [nodeResolve({ browser })],
    });
    await made.write({ file: join(out, "main.mjs"), format: "es", inlineDynamicImports: true });
    await made.close();
  },
  Vite: async (out, browser) => {
    // For servers, Vite does not copy the modules' files.
    const entry = browser ? "main.js" : "inline.js";
    await writeFile(join(place.folder, "index.html"), `<!doctype html><script type="module" src="/${entry}"></script>`);
    await build({
      root: place.folder,
      configFile: false,
      logLevel: "silent",
      ...(!browser && { ssr: { noExternal: true } }),
      build: {
        outDir: out,
        ...(!browser && { ssr: join(place.folder, entry), rollupOptions: { output: { entryFileNames: "main.mjs" } } }),
      },
    });
  },
};

test("esbuild warns of nothing in the code around the modules", async () => {
  const glue = new URL("../dist/hub/glue/", import.meta.url);
  for (const file of await readdir(glue)) {
    const { warnings } = await esbuild.transform(await readFile(new URL(file, glue), "utf8"), { logLevel: "silent" });
    assert.deepEqual(
      warnings.map(({ text }) => text),
      [],
      file,
    );
  }
});

const PAGE = '<!doctype html><body><script type="module" src="/main.mjs"></script>';

for (const [name, bundle] of Object.entries(BUNDLERS)) {
  test(`${name}: a bundle runs in Node.js`, async () => {
    const out = join(place.folder, `${name}-node`);
    await bundle(out, false);
    const { stdout } = await run(process.execPath, [join(out, "main.mjs")], { cwd: place.folder });
    assert.match(stdout, SAYS);
  });

  test(`${name}: a bundle runs in a browser`, async () => {
    const out = join(place.folder, `${name}-browser`);
    await bundle(out, true);
    if (name !== "Vite") {
      await writeFile(join(out, "index.html"), PAGE);
    }
    assert.match(await shown(out, "index.html"), SAYS);
  });
}

/** With the condition "production" instead of "module", esbuild uses the copy for Node.js. */
const FORMS = {
  "an ECMAScript module": ["mjs", { format: "esm" }],
  "CommonJS": ["cjs", { format: "cjs" }],
  "CommonJS of CommonJS": ["cjs", { format: "cjs", conditions: ["production"] }],
};

for (const [form, [ending, more]] of Object.entries(FORMS)) {
  test(`a module that is not beside a bundle, ${form}: the error names it and the ways out`, async () => {
    const folder = join(place.folder, `beside ${form}`);
    const out = join(folder, "out", `main.${ending}`);
    await esbuilt("main.js", out, false, more);
    const alone = await run(process.execPath, [out]);
    assert.match(alone.stdout, /failed: 508 .*zookeeper\.wasm.*ENOENT.*fencepost\/base64\/zookeeper/);
    await cp(join(place.folder, "node_modules", "fencepost", "dist", "modules"), join(folder, "modules"), {
      recursive: true,
    });
    assert.match((await run(process.execPath, [out])).stdout, SAYS);
    const inline = join(folder, "inline", "out", `main.${ending}`);
    await esbuilt("inline.js", inline, false, more);
    assert.match((await run(process.execPath, [inline])).stdout, SAYS);
  });
}

test("a page without WebAssembly's files: the error names them", async () => {
  const out = join(place.folder, "lost");
  await esbuilt("main.js", join(out, "main.mjs"), true);
  await writeFile(join(out, "index.html"), PAGE);
  assert.match(await shown(out, "index.html"), /failed: 508 .*zookeeper\.wasm.*404/);
});

/** The limit for a program that uses every kind of server, in bytes, gzipped: the JavaScript and the modules. */
const LOADED = 320 * 1024;
const MODULES = ["zookeeper", "redis", "memory"];

const gzipped = async (path) => gzipSync(await readFile(path), { level: constants.Z_BEST_COMPRESSION }).length;

/**
 * The esbuild options that find the files of a program: those that Deno, Bun or a browser loads, those that Node.js
 * loads, and a bundle.
 */
const FORMS_OF_ALL = {
  "ECMAScript modules": {},
  "CommonJS, in Node.js": { conditions: ["production"], format: "cjs" },
  "a bundle": { isBundle: true },
};

for (const [form, { isBundle = false, ...more }] of Object.entries(FORMS_OF_ALL)) {
  test(`the whole package is small: ${form}`, async (t) => {
    const ours = join("node_modules", "fencepost", "dist");
    await writeFile(join(place.folder, "all.js"), 'import * as all from "fencepost";\nconsole.log(all);\n');
    const out = join(place.folder, "all", "main.mjs");
    const { metafile } = await esbuilt("all.js", out, false, { absWorkingDir: place.folder, ...more });
    const inputs = Object.keys(metafile.inputs).filter((path) => path.startsWith(ours));
    for (const part of MODULES) {
      assert.ok(
        inputs.some((path) => path.includes(part)),
        `${part}: ${inputs.join("\n")}`,
      );
    }
    const scripts = isBundle ? [out] : inputs.map((path) => join(place.folder, path));
    const modules = MODULES.map((name) => join(place.folder, ours, "modules", `${name}.wasm`));
    const sizes = await Promise.all([...scripts, ...modules].map(gzipped));
    const sum = sizes.reduce((one, two) => one + two);
    t.diagnostic(`${form}: ${sizes.length} files, ${(sum / 1024).toFixed(1)} KiB gzipped`);
    assert.ok(sum <= LOADED, `${sum} bytes gzipped`);
  });
}

/** The parts that a bundle of a subpath contains, and those that it must not contain. */
const PARTS = {
  "fencepost/redis": [
    ["redis", "redis/node-redis"],
    ["zookeeper", "memory", "redis/ioredis"],
  ],
  "fencepost/ioredis": [
    ["redis", "redis/ioredis"],
    ["zookeeper", "memory", "redis/node-redis"],
  ],
  "fencepost/zookeeper": [["zookeeper"], ["redis", "memory"]],
  "fencepost/memory": [["memory"], ["redis", "zookeeper"]],
};

for (const [subpath, [has, lacks]] of Object.entries(PARTS)) {
  test(`${subpath}: a bundle has the driver that it imports, and no other`, async () => {
    const name = subpath.split("/")[1];
    await writeFile(join(place.folder, `${name}.js`), `import { connect } from "${subpath}";\nconsole.log(connect);\n`);
    const { metafile } = await esbuilt(`${name}.js`, join(place.folder, "parts", `${name}.mjs`), false);
    const [output] = Object.values(metafile.outputs);
    const inside = Object.entries(output.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
    const drives = (what) => inside.some(([path]) => path.includes(`/dist/drivers/${what}`));
    assert.deepEqual(has.filter(drives), has);
    assert.deepEqual(lacks.filter(drives), []);
    const text = await readFile(join(place.folder, "parts", `${name}.mjs`), "utf8");
    const modules = { redis: "redis", ioredis: "redis", zookeeper: "zookeeper", memory: "(?:zookeeper|memory)" };
    for (const [, module] of text.matchAll(/modules\/(\w+)\.wasm"/g)) {
      assert.match(module, new RegExp(`^${modules[name]}$`));
    }
  });
}
