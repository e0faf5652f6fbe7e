// A headless browser, on pages of a folder.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { text } from "node:stream/consumers";

export const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};
/** A page may run WebAssembly, but may not evaluate text as code. */
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";

/** The path of the browser, under Debian's or another name. */
export function chromium() {
  const found = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
    existsSync(path),
  );
  assert.ok(found, "no Chromium: run tools/setup system");
  return found;
}

/** Serves a folder on this machine. `posted` is called with the text that a page posts to `/shown`. */
export async function serve(folder, { policy = POLICY, posted = () => undefined } = {}) {
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    if (path === "/shown") {
      posted(text(request));
      response.writeHead(204).end();
      return;
    }
    readFile(join(folder, path)).then(
      (body) => {
        const type = TYPES[extname(path)] ?? "text/plain";
        response.writeHead(200, { "content-type": type, "content-security-policy": policy }).end(body);
      },
      () => response.writeHead(404).end(),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const host = `127.0.0.1:${server.address().port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { host, address: `http://${host}`, close };
}

/** Runs a page of a folder; returns the text that its program posts to `/shown` at its end. */
export async function shown(folder, page) {
  const program = chromium();
  const posted = {};
  posted.promise = new Promise((resolve, reject) => Object.assign(posted, { resolve, reject }));
  const server = await serve(folder, { posted: (body) => body.then(posted.resolve, posted.reject) });
  const profile = await mkdtemp(join(tmpdir(), "fencepost-chromium-"));
  const url = `${server.address}/${page}`;
  const browser = spawn(program, [...FLAGS, `--user-data-dir=${profile}`, url], { detached: true, stdio: "ignore" });
  const ended = once(browser, "exit");
  try {
    const silence = AbortSignal.timeout(120_000);
    silence.addEventListener("abort", () => posted.reject(new Error("the page has posted nothing in 2 min")));
    return await Promise.race([
      posted.promise,
      ended.then(([status]) => Promise.reject(new Error(`Chromium has ended with ${status}`))),
    ]);
  } finally {
    server.close();
    // The processes of a browser are a group.
    process.kill(-browser.pid, "SIGKILL");
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
