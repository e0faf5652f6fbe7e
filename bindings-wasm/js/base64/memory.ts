/**
 * `fencepost/base64/memory`: the modules for `memory:` as text, for programs that cannot have their files beside them.
 *
 * @packageDocumentation
 */

import "./zookeeper.js";

import { keepInline } from "../hub/wasm.js";
import { base64 } from "./text/memory.js";

keepInline("memory", base64);
