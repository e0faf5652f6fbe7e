// Bundles: each bundler's runs, with the client libraries absent, in Node.js and in a browser.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import esbuild from "esbuild";
import { rollup } from "rollup";
import { build } from "vite";
import webpack from "webpack";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));

/** What is bundled: it takes a lock, and asks for a server whose library is not there. */
const PROGRAM = `
import { connect, MemoryServer } from "fencepost";
async function main() {
  const client = await connect("memory:");
  const grant = await client.lock("stock/42").acquire();
  const held = await client.lock("stock/42").tryAcquire();
  await grant.release();
  await client.close();
  const elsewhere = [];
  for (const url of ["redis://localhost", "zk://localhost"]) {
    elsewhere.push(await connect(url).then(() => "connected", (error) => error.message));
  }
  return [typeof grant.fence, held === null, new MemoryServer().takeWoken().length, ...elsewhere].join(" | ");
}
main().then(show, (error) => show("failed: " + error.stack));
function show(text) {
  if (typeof document === "undefined") console.log(text);
  else document.body.textContent = "[" + text + "]";
}
`;

const SAYS =
  /bigint \| true \| 0 \| [^|]*not installed[^|]*redis or ioredis \| [^|]*not installed[^|]*node-zookeeper-client/;

let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "fencepost-bundle-"));
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root });
  const [{ filename }] = JSON.parse(stdout);
  const place = join(folder, "node_modules", "fencepost");
  await mkdir(place, { recursive: true });
  await run("tar", ["-xf", join(folder, filename), "--strip-components=1", "-C", place]);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "main.js"), PROGRAM);
});
after(() => rm(folder, { recursive: true, force: true }));

const entry = () => join(folder, "main.js");

/** Each makes one file of `main.js`. */
const BUNDLERS = {
  esbuild: async (out, browser) => {
    await esbuild.build({
      entryPoints: [entry()],
      outfile: out,
      bundle: true,
      minify: true,
      format: "esm",
      platform: browser ? "browser" : "node",
      logLevel: "silent",
    });
  },
  webpack: (out, browser) =>
    new Promise((resolve, reject) => {
      const configuration = {
        mode: "production",
        context: folder,
        entry: entry(),
        target: browser ? "web" : "node20",
        optimization: { minimize: false },
        plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
        output: { path: join(out, ".."), filename: out.split("/").at(-1) },
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
  Vite: async (out, browser) => {
    await build({
      root: folder,
      configFile: false,
      logLevel: "silent",
      ...(browser ? {} : { ssr: { noExternal: true } }),
      build: {
        outDir: join(out, ".."),
        emptyOutDir: false,
        ...(browser
          ? { lib: { entry: entry(), formats: ["es"], fileName: () => out.split("/").at(-1) } }
          : { ssr: entry() }),
        rollupOptions: { output: { codeSplitting: false, entryFileNames: out.split("/").at(-1) } },
      },
    });
  },
};

/** A browser by Debian's or another name. */
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);

/** What a page with this program shows. */
async function page(bundle) {
  assert.ok(CHROMIUM, "no Chromium: run tools/setup system");
  const html = join(folder, "page.html");
  const text = (await readFile(bundle, "utf8")).replaceAll("</script", "<\\/script");
  await writeFile(html, `<!doctype html><body><script type="module">${text}</script>`);
  const flags = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--virtual-time-budget=20000",
  ];
  const profile = `--user-data-dir=${join(folder, "profile")}`;
  const { stdout } = await run(CHROMIUM, [...flags, profile, "--dump-dom", `file://${html}`], { timeout: 60_000 });
  return stdout;
}

for (const [name, bundle] of Object.entries(BUNDLERS)) {
  test(`${name}: a bundle runs in Node.js`, async () => {
    const out = join(folder, `${name}-node.${name === "webpack" ? "cjs" : "mjs"}`);
    await bundle(out, false);
    const { stdout } = await run(process.execPath, [out], { cwd: folder });
    assert.match(stdout, SAYS);
  });

  test(`${name}: a bundle runs in a browser`, async () => {
    const out = join(folder, `${name}-browser.js`);
    await bundle(out, true);
    assert.match(await page(out), SAYS);
  });
}

test("Rollup: a bundle runs in Node.js", async () => {
  const made = await rollup({
    input: entry(),
    onLog: () => undefined,
    external: ["redis", "ioredis", "node-zookeeper-client"],
    plugins: [
      {
        name: "here",
        resolveId: (id) => (id === "fencepost" ? join(folder, "node_modules/fencepost/dist/index.js") : null),
      },
    ],
  });
  const out = join(folder, "rollup.mjs");
  await made.write({ file: out, format: "es", inlineDynamicImports: true });
  await made.close();
  const { stdout } = await run(process.execPath, [out], { cwd: folder });
  assert.match(stdout, SAYS);
});
