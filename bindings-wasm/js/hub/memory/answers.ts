/**
 * Receives the replies and reports of the memory server. The server calls these functions during a call, and no other
 * request comes in between.
 *
 * @module
 */

import type { Failure, SessionState, Stat } from "../hub.js";
import type { MemoryMessage, MemoryNode, MemorySession } from "./reports.js";

/** The hub that sent the request. */
export interface Asker {
  created(path: string, zxid: bigint): void;
  children(names: readonly string[]): void;
  data(data: Uint8Array, stat: Stat): void;
  done(): void;
  error(code: number): void;
  failed(failure: Failure): void;
  fired(id: number, event: "deleted" | "changed"): void;
  changed(state: SessionState, session: bigint, timeout: number): void;
}

let asker: Asker | null = null;

/** Passes the replies to the requests during `ask` to one hub. */
export function answering<T>(one: Asker, ask: () => T): T {
  asker = one;
  try {
    return ask();
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

export function failed(failure: Failure): void {
  asker?.failed(failure);
}

export function fired(id: number, deleted: boolean): void {
  asker?.fired(id, deleted ? "deleted" : "changed");
}

export function changed(state: SessionState, session: bigint, timeout: number): void {
  asker?.changed(state, session, timeout);
}

let reports: (MemorySession | MemoryNode | MemoryMessage)[] = [];
let paths: string[] = [];

/** Returns the reports of the server during the call. */
export function reported<T extends MemorySession | MemoryNode | MemoryMessage>(report: () => void): T[] {
  reports = [];
  report();
  return reports as T[];
}

export function session(hub: number, session: bigint, state: MemorySession["state"], paused: boolean): void {
  reports.push({ hub, session, state, paused });
}

/** `data` is a view of the module's memory. */
export function node(path: string, data: Uint8Array, hub: number): void {
  reports.push({ path, data: data.slice(), hub: hub === 0 ? null : hub });
}

/** A path of the next message. */
export function path(path: string): void {
  paths.push(path);
}

export function message(
  number: number,
  time: number,
  hub: number,
  session: bigint,
  kind: MemoryMessage["kind"],
  command: number,
  name: string,
  error: number,
  text: string,
): void {
  reports.push({
    number,
    time,
    hub,
    session,
    kind,
    command: command === 0 ? null : command,
    name,
    paths,
    error: error === 0 ? null : error,
    text,
  });
  paths = [];
}
