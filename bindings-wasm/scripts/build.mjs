// Builds the package: the WebAssembly modules, their glue, and the TypeScript around it.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { reordered } from "./order.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));
const root = join(here, "..");
const glue = join(here, "dist", "glue");

const run = (command, ...parameters) =>
  execFileSync(command, parameters.flat(), { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
const tool = (name, ...parameters) => run(process.execPath, join(here, "node_modules", ".bin", name), ...parameters);

// Two passes of LLVM spend code to spare steps: in loops, which are short here, and on paths that are seldom taken. A third one, which is
// not on by default, joins what two branches end with.
for (const name of ["fencepost-wasm", "fencepost-wasm-memory"]) {
  run(
    "cargo",
    ["rustc", "--quiet", "--profile", "wasm", "--target", "wasm32-unknown-unknown", "--package", name],
    ["--", "-C", "llvm-args=-disable-lsr -enable-pre=false -enable-gvn-sink"],
  );
}
const target = JSON.parse(run("cargo", ["metadata", "--no-deps", "--format-version", "1"])).target_directory;
rmSync(join(here, "dist"), { recursive: true, force: true });
mkdirSync(glue, { recursive: true });

// What rustc uses by default; every runtime has had these for years.
const features = [
  "bulk-memory",
  "sign-ext",
  "mutable-globals",
  "nontrapping-float-to-int",
  "reference-types",
  "multivalue",
];

/** Makes `NAME.js`, `NAME_bg.wasm`, and the module as text in `text`. */
function bind(name, text) {
  const built = join(target, "wasm32-unknown-unknown", "wasm", `${name}.wasm`);
  run("cargo", ["run", "--quiet", "--package", "fencepost-bindgen", "--", "wasm", built, glue]);
  const bound = join(glue, `${name}_bg.wasm`);
  const known = features.map((feature) => `--enable-${feature}`);
  tool(
    "wasm-opt",
    // What is left as it is by the compiler is not to be inlined here; nothing lies below the stack.
    ["-Oz", "--converge", "--one-caller-inline-max-function-size=0", "--low-memory-unused"],
    known,
    ["--strip-target-features", bound, "-o", bound],
  );
  const written = join(glue, `${name}.wat`);
  tool("wasm-opt", "--quiet", known, bound, "-S", "-o", written);
  writeFileSync(written, reordered(readFileSync(written, "utf8"), readFileSync(bound)));
  tool("wasm-opt", "--quiet", known, written, "-o", bound);
  rmSync(written);
  writeFileSync(
    join(glue, text),
    `// The WebAssembly module as text.\nexport const base64 =\n  "${readFileSync(bound).toString("base64")}";\n`,
  );
}

bind("fencepost_wasm", "module.js");
bind("fencepost_wasm_memory", "memory.js");

try {
  tool("tsc", ["--project", join(here, "tsconfig.json")]);
} catch (error) {
  process.stderr.write(error.stdout);
  process.exit(1);
}
