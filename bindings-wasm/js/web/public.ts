/**
 * The exports that are the same for all frameworks.
 *
 * @module
 */

export { claimOf } from "./claims.js";
export { recordKey } from "./fingerprint.js";
export type { Idle } from "./gate.js";
export type { End, WebOptions } from "./settings.js";
export { issueToken, tokenField } from "./tokens.js";
