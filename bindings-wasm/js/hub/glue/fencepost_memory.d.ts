/**
 * What the WebAssembly module of `memory:` exports (`memory/src`), with precise types. The build generates the glue
 * itself into `dist/hub/glue`.
 */

/** Calls of `memory/answers.ts` report the answers before a method returns. Operations have the core's numbers. */
export class RawServer {
  /** Opens a session. */
  open(): bigint;
  end(session: bigint): void;
  /** The sessions that have new notices. */
  woken(): BigInt64Array;
  listen(session: bigint): void;
  /** One part of the next multi. */
  part(operation: number, path: string, data: Uint8Array, flags: number, version: number): void;
  execute(
    now: number,
    session: bigint,
    id: number,
    operation: number,
    path: string,
    data: Uint8Array,
    flags: number,
  ): void;
}

export function initSync(module: { module: Uint8Array }): void;
