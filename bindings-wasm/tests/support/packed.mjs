// The package as it is shipped, installed in a separate folder, without the client libraries. `FENCEPOST_PACKED` is the
// archive of a release.

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** A folder whose `node_modules` contains only this package. `packed`: the archive of the package. */
export async function installed() {
  const folder = await mkdtemp(join(tmpdir(), "fencepost-packed-"));
  const packed = process.env.FENCEPOST_PACKED ?? (await pack(folder));
  const place = join(folder, "node_modules", "fencepost");
  await mkdir(place, { recursive: true });
  await run("tar", ["-xf", packed, "--strip-components=1", "-C", place]);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  return { folder, packed, remove: () => rm(folder, { recursive: true, force: true }) };
}

async function pack(folder) {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root });
  return join(folder, JSON.parse(stdout)[0].filename);
}

/** Runs a tool of `node_modules/.bin`. */
export function tool(name, parameters, options) {
  return run(join(root, "node_modules", ".bin", name), parameters, { timeout: 120_000, ...options });
}
