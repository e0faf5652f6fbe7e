/**
 * Takes the answers of the memory server. The server makes them during the call, and no other request comes in between.
 *
 * @module
 */

import type { Stat } from "../hub.js";

/** The hub that has sent the request. */
export interface Asker {
  created(path: string, zxid: bigint): void;
  children(names: readonly string[]): void;
  data(data: Uint8Array, stat: Stat): void;
  done(): void;
  error(code: number): void;
  fired(id: number, event: "deleted" | "changed"): void;
}

let asker: Asker | null = null;

/** Passes the answers of the requests during `call` to one hub. */
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

/** No name contains a slash. */
export function children(names: string): void {
  asker?.children(names === "" ? [] : names.split("/"));
}

/** `data` is a view of the module's memory. */
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
