// Builds the package: the WebAssembly modules and their glue, and what is around them.
import "./modules.mjs";

await import("./package.mjs");
