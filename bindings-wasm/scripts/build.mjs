// Builds the package: the WebAssembly modules and their glue, and the code around them.
import "./modules.mjs";

await import("./package.mjs");
