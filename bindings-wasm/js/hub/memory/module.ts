/**
 * The module of the server behind `memory:`.
 *
 * @module
 */

import { location } from "#location/memory";

import * as glue from "../glue/fencepost_memory.js";
import { Wasm } from "../wasm.js";

export type { RawServer } from "../glue/fencepost_memory.js";

/** The compiled module. It is compiled for the first server, because most programs have none. */
export const memoryModule = new Wasm("memory", glue, location);
