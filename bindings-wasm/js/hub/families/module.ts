/**
 * The WebAssembly module of a family: the machines that speak to one kind of server. It is compiled when it is first asked for.
 *
 * @module
 */

import type * as glue from "../glue/family.js";

/** What all of them have, and the scopes of idempotent operations, which Redis has. */
export type Module = Pick<typeof glue, "RawHub" | "Settings" | "optionType" | "parseAddress"> &
  Partial<Pick<typeof glue, "Scope">>;
