// The core's tests and the Rust replayer, compiled to WebAssembly and run under node:wasi.
//
//     node --no-warnings tests/wasi/run.mjs        from the repository's root
//
// Each test program prints cargo's usual summary line; the exit code is 0 if all pass.

import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { WASI } from "node:wasi";

const target = "wasm32-wasip1";
const programs = [
  ["--package", "fencepost-core", "--lib"],
  ["--package", "fencepost-tests", "--test", "transcripts"],
];

/** Builds without running, and returns the paths of the test programs. */
function build(selection) {
  const command = ["test", "--no-run", "--quiet", "--message-format", "json", "--target", target];
  const cargo = spawnSync("cargo", [...command, ...selection], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (cargo.status !== 0) {
    throw new Error(`cargo test ${selection.join(" ")} has not been built for ${target}`);
  }
  const built = cargo.stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return built.filter((one) => one.profile?.test && one.executable).map((one) => one.executable);
}

/** Runs a test program; it may read the repository, where the transcripts are. */
async function run(program) {
  const root = process.cwd();
  const wasi = new WASI({
    version: "preview1",
    args: [basename(program), ...process.argv.slice(2)],
    preopens: { [root]: root },
    returnOnExit: true,
  });
  const module = await WebAssembly.compile(await readFile(program));
  const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
  try {
    return wasi.start(instance);
  } catch (trap) {
    // A failed assertion aborts the program, because WebAssembly has no unwinding here.
    console.error(`${basename(program)}: ${trap}`);
    return 1;
  }
}

let failed = 0;
for (const program of programs.flatMap(build)) {
  console.log(`\n     Running ${basename(program)}`);
  failed += (await run(program)) === 0 ? 0 : 1;
}
process.exit(failed === 0 ? 0 : 1);
