/**
 * The names of operations: the key of a request, or a form token.
 *
 * @module
 */

import { lineOfBytes, stripped } from "./bytes.js";

/** The header of a key. */
export const KEY_HEADER = "idempotency-key";
/** The header of a form token, and the field of a form that has one. */
export const TOKEN_HEADER = "idempotency-token";

const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;
const BARE = /^[!#-+\--:<-[\]-~]+$/;
const TOKEN = /^[A-Za-z0-9_-]{1,255}$/;
const LONGEST_KEY = 255;

/** The key in a header's value; null if it is malformed. */
export function keyOf(value: string): string | null {
  const text = stripped(value);
  const quoted = QUOTED.exec(text)?.[1]?.replace(/\\(.)/g, "$1");
  const key = quoted ?? (BARE.test(text) ? text : "");
  return key.length >= 1 && key.length <= LONGEST_KEY ? key : null;
}

/** The form token in a value; null if it is malformed. */
export function tokenOf(value: string): string | null {
  const text = stripped(value);
  return TOKEN.test(text) ? text : null;
}

/** The value of the first field for a form token in an urlencoded body; null if there is none. */
export function tokenIn(body: Uint8Array): string | null {
  // Without the `&`, a question mark at the beginning would be removed.
  return new URLSearchParams(`&${lineOfBytes(body)}`).get(TOKEN_HEADER);
}

/** The key of the record of a form token. */
export function tokenKey(token: string): string {
  return `http-token:1:${token}`;
}
