/**
 * `fencepost/base64/memory`: the modules for `memory:` as text, for programs that are shipped without the modules'
 * files.
 *
 * @module fencepost/base64/memory
 */

import "./zookeeper.js";

import { keepInline } from "../hub/wasm.js";
import { base64 } from "./text/memory.js";

keepInline("memory", base64);
