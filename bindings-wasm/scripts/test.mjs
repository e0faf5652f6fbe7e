// Compiles the tests and runs them; starts the servers unless they run already. Arguments: names of test files.
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("..", import.meta.url));
const built = join(here, ".build", "tests");

function run(command, ...parameters) {
  const { status } = spawnSync(command, parameters, { cwd: here, stdio: "inherit" });
  if (status !== 0) {
    process.exit(status ?? 1);
  }
}

if (process.env.FENCEPOST_SERVERS === undefined) {
  run("python3", join("..", "tests", "servers"), "run", "--", process.execPath, ...process.argv.slice(1));
} else {
  rmSync(join(here, ".build"), { recursive: true, force: true });
  run(process.execPath, join("node_modules", "typescript", "bin", "tsc"), "--project", "tests");
  const wanted = process.argv.slice(2);
  const files = readdirSync(built)
    .filter((name) => name.endsWith(".test.js"))
    .filter((name) => wanted.length === 0 || wanted.some((word) => name.startsWith(word)));
  const plain = readdirSync(join(here, "tests"))
    .filter((name) => name.endsWith(".test.mjs"))
    .filter((name) => wanted.length === 0 || wanted.some((word) => name.startsWith(word)));
  const paths = [...files.map((name) => join(built, name)), ...plain.map((name) => join(here, "tests", name))];
  // One after the other: they stop servers.
  run(process.execPath, "--expose-gc", "--test", "--test-concurrency=1", "--test-reporter=spec", ...paths);
}
