// Builds the WebAssembly modules and their glue: `dist/modules`, and `dist/hub/glue`.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { glueOf, short } from "./glue.mjs";
import { reordered } from "./order.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));
const root = join(here, "..");
const glue = join(here, "dist", "hub", "glue");
const modules = join(here, "dist", "modules");

const TARGET = "wasm32-unknown-unknown";

const run = (command, ...parameters) =>
  execFileSync(command, parameters.flat(), { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
const tool = (name, ...parameters) => run(process.execPath, join(here, "node_modules", ".bin", name), ...parameters);

const target = JSON.parse(run("cargo", ["metadata", "--no-deps", "--format-version", "1"])).target_directory;
rmSync(join(here, "dist"), { recursive: true, force: true });
mkdirSync(glue, { recursive: true });
mkdirSync(modules, { recursive: true });

// The features that rustc uses by default; every runtime has had them for years.
const runtime = [
  "bulk-memory",
  "sign-ext",
  "mutable-globals",
  "nontrapping-float-to-int",
  "reference-types",
  "multivalue",
];

/**
 * The module for Redis. In it, an acquire and release takes 4.9 µs at level s, 5.9 µs with these thresholds and 7.4 µs
 * at level z; with a real Redis, it takes 65 µs in all. At level s, the module is 5 percent larger.
 */
const FAST = {
  // The compilers' default thresholds inline too much for a small module.
  llvm: " -inline-threshold=25",
  passes: ["-O3", "--merge-similar-functions"],
};
/**
 * The module for ZooKeeper, which is the largest one, and whose server takes longer; and the module of `memory:`, which
 * is for demonstrations and tests. Two levels, one after the other, make a module smaller than the second level alone.
 */
const SMALL = { llvm: "", passes: ["-O3", "-Oz"] };
/** wasm-opt must not inline functions that the compiler did not inline; there is no data below the stack. */
const PASSES = ["--converge", "--one-caller-inline-max-function-size=0", "--low-memory-unused"];

/**
 * A program hashes a key at most once for an operation. With unrolled rounds, the hash would be a twentieth of the
 * module.
 */
const FLAGS = ["--cfg", 'sha2_backend_soft="compact"'];
/** Keeps the paths of this machine out of the modules. */
const NAMES = { [process.env.CARGO_HOME ?? join(homedir(), ".cargo")]: "/cargo", [root]: "/fencepost" };
const RUSTFLAGS = [...FLAGS, ...Object.entries(NAMES).map(([path, name]) => `--remap-path-prefix=${path}=${name}`)];
const COMPACT = `target.${TARGET}.rustflags=${JSON.stringify(RUSTFLAGS)}`;

/** Makes `fencepost_NAME.js` and `NAME.wasm`. */
function make(name, crate, { llvm, passes }, features = []) {
  // Two passes of LLVM are off, because they add code to save steps: in loops, which are short here, and on paths that
  // rarely run. A third pass, which is off by default, is on: it merges the common ends of two branches.
  run(
    "cargo",
    ["rustc", "--quiet", "--config", COMPACT, "--profile", "wasm", "--target", TARGET],
    ["--package", crate, ...features.map((feature) => `--features=${feature}`)],
    ["--", "-C", `llvm-args=-disable-lsr -enable-pre=false -enable-gvn-sink${llvm}`],
  );
  const built = join(target, TARGET, "wasm");
  const module = join(built, `fencepost_${name}.wasm`);
  copyFileSync(join(built, `${crate.replaceAll("-", "_")}.wasm`), module);
  run("cargo", ["run", "--quiet", "--package", "fencepost-bindgen", "--", "wasm", module, glue]);
  const bound = join(glue, `fencepost_${name}_bg.wasm`);
  const known = runtime.map((feature) => `--enable-${feature}`);
  tool("wasm-opt", passes, PASSES, known, ["--strip-target-features", bound, "-o", bound]);
  const written = join(glue, `${name}.wat`);
  tool("wasm-opt", "--quiet", known, bound, "-S", "-o", written);
  writeFileSync(written, reordered(short(readFileSync(written, "utf8")), readFileSync(bound)));
  const script = join(glue, `fencepost_${name}.js`);
  writeFileSync(script, glueOf(readFileSync(script, "utf8")));
  tool("wasm-opt", "--quiet", known, written, "-o", bound);
  rmSync(written);
  renameSync(bound, join(modules, `${name}.wasm`));
}

make("zookeeper", "fencepost-wasm", SMALL);
make("redis", "fencepost-wasm", FAST, ["redis"]);
make("memory", "fencepost-wasm-memory", SMALL);
