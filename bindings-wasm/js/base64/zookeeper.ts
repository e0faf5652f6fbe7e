/**
 * `fencepost/base64/zookeeper`: the module as text, for programs that are shipped without the module's file.
 *
 * @module fencepost/base64/zookeeper
 */

import { keepInline } from "../hub/wasm.js";
import { base64 } from "./text/zookeeper.js";

keepInline("zookeeper", base64);
