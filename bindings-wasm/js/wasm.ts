/**
 * The WebAssembly module, compiled when this file is loaded.
 *
 * @module
 */

import { bytes } from "./base64.js";
import { initSync } from "./glue/fencepost_wasm.js";
import { base64 } from "./glue/module.js";

initSync({ module: bytes(base64) });

export { RawHub, Settings as RawSettings, isFromReplica, parseAddress } from "./glue/fencepost_wasm.js";
