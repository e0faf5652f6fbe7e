/**
 * The WebAssembly module of a family: the machines for one kind of server. It is compiled when a program first needs
 * it.
 *
 * @module
 */

import type * as glue from "../glue/family.js";

/** The exports that all modules have. */
export type Module = Pick<typeof glue, "RawHub" | "Scope" | "Settings" | "optionType" | "parseAddress">;
