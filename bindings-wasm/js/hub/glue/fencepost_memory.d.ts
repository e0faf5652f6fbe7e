/** The class of the WebAssembly module of `memory:`: what `memory/src` exports, with precise types. The glue itself is generated into `dist/hub/glue`. */

/** What is asked is answered by calls of `memory/answers.ts`, before the method returns. Operations are the numbers of the core. */
export class RawServer {
  /** Opens a session. */
  open(): bigint;
  end(session: bigint): void;
  /** The sessions that have been told something. */
  woken(): BigInt64Array;
  listen(session: bigint): void;
  /** One write of the next multi. */
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
