/**
 * The exports of the WebAssembly module of `memory:` (`memory/src`), with precise types. The build generates the glue
 * itself into `dist/hub/glue`.
 */

/** Calls of `memory/answers.ts` report the replies before a method returns. Operations have the core's numbers. */
export class RawServer {
  /** Connects a hub; returns its id. */
  connect(timeout?: number): number;
  disconnect(hub: number, now: number): void;
  /** The hubs that have something to poll. */
  woken(): Float64Array;
  /** Whether the hub runs: otherwise it is paused. */
  listen(hub: number, now: number): boolean;
  /** This and the next four controls return whether the hub exists. */
  expire(hub: number): boolean;
  suspend(hub: number): boolean;
  reconnect(hub: number): boolean;
  pause(hub: number): boolean;
  resume(hub: number): boolean;
  sessions(): void;
  nodes(): void;
  record(on: boolean): void;
  messages(after: number): void;
  /** One part of the next multi. */
  part(operation: number, path: string, data: Uint8Array, flags: number, version: number): void;
  execute(now: number, hub: number, id: number, operation: number, path: string, data: Uint8Array, flags: number): void;
}

export function initSync(module: { module: Uint8Array }): void;
