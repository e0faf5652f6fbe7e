/**
 * The WebAssembly module, compiled when this file is loaded. It travels as text inside the package, so that Node.js, Deno, Bun and
 * browsers load it in the same way, without a file or a request.
 *
 * @module
 */

import { initSync } from "./glue/fencepost_wasm.js";
import { base64 } from "./glue/module.js";

const text = atob(base64);
const bytes = new Uint8Array(text.length);
for (let index = 0; index < text.length; index++) {
  bytes[index] = text.charCodeAt(index);
}
initSync({ module: bytes });

export { MemoryServer, RawHub, Settings as RawSettings, parseAddress } from "./glue/fencepost_wasm.js";
