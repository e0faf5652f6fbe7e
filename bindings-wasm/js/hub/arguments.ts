/**
 * The arguments of Redis commands, and how the WebAssembly module passes them: see src/arguments.rs.
 *
 * @module
 */

import { TextDecoder } from "../host.js";

/** A text; or bytes, if the argument is long or not UTF-8. */
export type Argument = string | Uint8Array;

let gathered: Argument[] = [];

/** @internal Takes the arguments that the module has passed one by one. */
export function takeGathered(): Argument[] {
  const all = gathered;
  gathered = [];
  return all;
}

/** A longer argument stays bytes: the client library would have to encode a text again. */
const LONG = 8192;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @internal One argument of the next command, if the arguments do not fit into one text. */
export function argument(bytes: Uint8Array): void {
  if (bytes.length > LONG) {
    gathered.push(bytes.slice());
    return;
  }
  try {
    gathered.push(utf8.decode(bytes));
  } catch {
    gathered.push(bytes.slice());
  }
}

/** @internal Makes an empty array for the arguments of another kind of command. */
export function texts(): string[] {
  return [];
}

/** @internal Replaces the texts whose bits are set in `changed` by the texts that are `joined` with NULs. */
export function replaceTexts(texts: string[], changed: number, joined: string): void {
  const fresh = joined.split("\0");
  for (let index = 0, used = 0; used < fresh.length && index < 32; index++) {
    if ((changed & (1 << index)) !== 0) {
      texts[index] = fresh[used++] ?? "";
    }
  }
}

/** @internal Replaces the number at the end of a text. */
export function countText(texts: string[], index: number, keep: number, number: number): void {
  texts[index] = (texts[index] ?? "").slice(0, keep) + String(number);
}

/** @internal Copies a text from the arguments of another command. */
export function copyText(texts: string[], index: number, from: readonly string[], place: number): void {
  texts[index] = from[place] ?? "";
}
