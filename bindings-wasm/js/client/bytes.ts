/**
 * Fingerprints, bindings and results.
 *
 * @module
 */

import { shown, unreadable } from "../errors.js";
import { TextEncoder } from "../host.js";
import { checkPresent } from "../hub/checks.js";
import { checkedText } from "../hub/settings.js";
import { isBytes } from "../realms.js";

/** The longest result of an operation, in bytes, as in the core. */
export const LONGEST_RESULT = 1_000_000;

/** Any bytes. A string is encoded as UTF-8. */
export type Bytes = Uint8Array | string;

const utf8 = new TextEncoder();

/** An argument that has to be bytes. */
export function bytesOf(what: string, value: unknown): Uint8Array {
  if (isBytes(value)) {
    checkPresent(what, value);
    return value;
  }
  if (typeof value === "string") {
    return utf8.encode(checkedText(what, value));
  }
  throw unreadable(`${what} is ${shown(value)}: it has to be a Uint8Array or a string`);
}

/** The same for an option. If it is not set, there are no bytes. */
export function optionalBytes(what: string, value: unknown): Uint8Array {
  return bytesOf(what, value ?? "");
}
