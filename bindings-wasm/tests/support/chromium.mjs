// A headless browser, on pages of a folder.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A browser by Debian's or another name. */
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=20000"];
const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

/** What a page of a folder shows when its program has run. The page may run WebAssembly, and no text as a program. */
export async function shown(folder, page) {
  assert.ok(CHROMIUM, "no Chromium: run tools/setup system");
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    readFile(join(folder, path)).then(
      (body) => {
        const type = TYPES[extname(path)] ?? "text/plain";
        const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
        response.writeHead(200, { "content-type": type, "content-security-policy": policy }).end(body);
      },
      () => response.writeHead(404).end(),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const profile = await mkdtemp(join(tmpdir(), "fencepost-chromium-"));
  try {
    const url = `http://127.0.0.1:${server.address().port}/${page}`;
    const parameters = [...FLAGS, `--user-data-dir=${profile}`, "--dump-dom", url];
    return (await run(CHROMIUM, parameters, { timeout: 60_000 })).stdout;
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(profile, { recursive: true, force: true });
  }
}
