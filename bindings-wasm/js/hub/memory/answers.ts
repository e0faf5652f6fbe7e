/**
 * Where the server inside the process leaves its answers: it gives them out while it is asked, and nothing is asked meanwhile.
 *
 * @module
 */

import type { Stat } from "../hub.js";

/** Whoever has asked. */
export interface Asker {
  created(path: string, zxid: bigint): void;
  children(names: readonly string[]): void;
  data(data: Uint8Array, stat: Stat): void;
  done(): void;
  error(code: number): void;
  fired(id: number, event: "deleted" | "changed"): void;
}

let asker: Asker | null = null;

/** Gives the answers of what is asked meanwhile to `one`. */
export function answering(one: Asker, ask: () => void): void {
  asker = one;
  try {
    ask();
  } finally {
    asker = null;
  }
}

export function created(path: string, zxid: bigint): void {
  asker?.created(path, zxid);
}

/** No name has a slash. */
export function children(names: string): void {
  asker?.children(names === "" ? [] : names.split("/"));
}

/** What arrives is a view of the module's memory. */
export function data(
  data: Uint8Array,
  czxid: bigint,
  mzxid: bigint,
  ephemeralOwner: bigint,
  version: number,
  created: bigint,
  modified: bigint,
): void {
  const times = { created: Number(created), modified: Number(modified) };
  asker?.data(data, { czxid, mzxid, ephemeralOwner, version, ...times });
}

export function done(): void {
  asker?.done();
}

export function error(code: number): void {
  asker?.error(code);
}

export function fired(id: number, deleted: boolean): void {
  asker?.fired(id, deleted ? "deleted" : "changed");
}
