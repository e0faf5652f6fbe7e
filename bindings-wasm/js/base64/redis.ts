/**
 * `fencepost/base64/redis`: the module as text, for programs that are shipped without the module's file.
 *
 * @module fencepost/base64/redis
 */

import { keepInline } from "../hub/wasm.js";
import { base64 } from "./text/redis.js";

keepInline("redis", base64);
