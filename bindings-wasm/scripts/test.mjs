// Compiles the tests and runs them; starts the servers unless they run already. Arguments: names of test files, and
// those of files to leave out with a minus before them.
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
  const names = process.argv.slice(2);
  const unwanted = names.filter((word) => word.startsWith("-")).map((word) => word.slice(1));
  const wanted = names.filter((word) => !word.startsWith("-"));
  const starts = (name, words) => words.some((word) => name.startsWith(word));
  const isChosen = (name) => (wanted.length === 0 || starts(name, wanted)) && !starts(name, unwanted);
  const testsIn = (folder, ending) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(ending) && isChosen(name))
      .map((name) => join(folder, name));
  const paths = [...testsIn(built, ".test.js"), ...testsIn(join(here, "tests"), ".test.mjs")];
  // One after the other: they stop servers.
  run(process.execPath, "--expose-gc", "--test", "--test-concurrency=1", "--test-reporter=spec", ...paths);
}
