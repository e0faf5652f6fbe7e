/**
 * The WebAssembly module of a family: the machines that speak to one kind of server. It is compiled when it is first asked for.
 *
 * @module
 */

import type * as glue from "../glue/family.js";

/** What all of them have. */
export type Module = Pick<typeof glue, "RawHub" | "Scope" | "Settings" | "optionType" | "parseAddress">;
