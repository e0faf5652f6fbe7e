// Compiles the tests and runs them. Arguments: names of test files; with a minus before it, the name of a file to leave
// out. The files run one after the other, because they stop servers. With `--workers N`, N files run at a time, and
// each worker has its own servers.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = fileURLToPath(new URL("..", import.meta.url));
const built = join(here, ".build", "tests");
const servers = join(here, "..", "tests", "servers");
const SINGLE = ["--zookeeper", "--redis", "2", "--redis-password", "--redis-tls"];
/** These files take longest, so they run first. */
const LONGEST = ["habits", "loss", "owners", "bundles", "runtimes", "package", "silent-server", "fuzz", "late"];

const leftOut = process.argv.slice(2).filter((word) => /^-[^-]/.test(word));
const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((word) => !leftOut.includes(word)),
  options: { workers: { type: "string" } },
  allowPositionals: true,
});

/** The files with the chosen tests. */
function files() {
  const starts = (name, words) => words.some((word) => name.startsWith(word));
  const isChosen = (name) =>
    (positionals.length === 0 || starts(name, positionals)) &&
    !starts(
      name,
      leftOut.map((word) => word.slice(1)),
    );
  const testsIn = (folder, ending) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(ending) && isChosen(name))
      .map((name) => join(folder, name));
  return [...testsIn(built, ".test.js"), ...testsIn(join(here, "tests"), ".test.mjs")];
}

/** Node's test runner for some files. */
const RUNNER = ["--expose-gc", "--test", "--test-concurrency=1", "--test-reporter=spec"];

/**
 * Runs one file after the other until none waits, on servers that stop when their input ends. Returns whether all
 * passed.
 */
async function worker(waiting) {
  const started = spawn("python3", [servers, "run", ...SINGLE], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(started, "exit");
  const [line] = await once(createInterface({ input: started.stdout }), "line");
  const env = { ...process.env, ...JSON.parse(line) };
  let passed = true;
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const run = spawn(process.execPath, [...RUNNER, path], { cwd: here, env, stdio: ["ignore", "pipe", "pipe"] });
    const said = [];
    run.stdout.on("data", (data) => said.push(data));
    run.stderr.on("data", (data) => said.push(data));
    const [status] = await once(run, "close");
    process.stdout.write(`\n== ${basename(path)}\n${Buffer.concat(said)}`);
    passed &&= status === 0;
  }
  started.stdin.end();
  await ended;
  return passed;
}

function run(command, ...parameters) {
  const { status } = spawnSync(command, parameters, { cwd: here, stdio: "inherit" });
  if (status !== 0) {
    process.exit(status ?? 1);
  }
}

function compile() {
  rmSync(join(here, ".build"), { recursive: true, force: true });
  run(process.execPath, join("node_modules", "typescript", "bin", "tsc"), "--project", "tests");
}

if (values.workers !== undefined) {
  compile();
  const place = (path) => LONGEST.findIndex((name) => basename(path).startsWith(name)) >>> 0;
  const waiting = files().sort((one, other) => place(one) - place(other));
  const workers = Array.from({ length: Number(values.workers) }, () => worker(waiting));
  process.exitCode = (await Promise.all(workers)).every(Boolean) ? 0 : 1;
} else if (process.env.FENCEPOST_SERVERS === undefined) {
  run("python3", servers, "run", "--", process.execPath, ...process.argv.slice(1));
} else {
  compile();
  run(process.execPath, ...RUNNER, ...files());
}
