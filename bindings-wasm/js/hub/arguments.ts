/**
 * Arguments of commands for Redis, and how the WebAssembly module hands them over: see src/arguments.rs.
 *
 * @module
 */

/** A text, or bytes where it is none or is long. */
export type Argument = string | Uint8Array;

let gathered: Argument[] = [];

/** @internal The arguments that have been handed over one by one. */
export function takeGathered(): Argument[] {
  const all = gathered;
  gathered = [];
  return all;
}

/** What is longer is handed on as it is: as a text it would be written out again. */
const LONG = 8192;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @internal One argument of the next command, where they do not fit into one text. */
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

/** @internal An empty array for the arguments of another kind of command. */
export function texts(): string[] {
  return [];
}

/** @internal Replaces those of the texts whose bits are in `changed` by what is `joined` with NULs. */
export function replaceTexts(texts: string[], changed: number, joined: string): void {
  const fresh = joined.split("\0");
  for (let index = 0, used = 0; used < fresh.length && index < 32; index++) {
    if ((changed & (1 << index)) !== 0) {
      texts[index] = fresh[used++] ?? "";
    }
  }
}

/** @internal Another number at the end of a text. */
export function countText(texts: string[], index: number, keep: number, number: number): void {
  texts[index] = (texts[index] ?? "").slice(0, keep) + String(number);
}

/** @internal Takes a text from the arguments of another command. */
export function copyText(texts: string[], index: number, from: readonly string[], place: number): void {
  texts[index] = from[place] ?? "";
}
