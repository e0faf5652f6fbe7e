/** The classes of the WebAssembly module: what `src/*.rs` exports, with precise types. The glue itself is generated into `dist/glue`. */

export class MemoryServer {
  takeWoken(): Float64Array;
}

export class Settings {
  constructor(data: unknown);
}

export function parseAddress(url: string): unknown;

export class RawHub {
  constructor(family: string, seed: number);
  static memory(server: MemoryServer, now: number, seed: number): RawHub;
  id(): number;
  pending(): number;
  open(now: number, settings: Settings, owner: Uint8Array, seed: number): number;
  acquire(now: number, key: number, patience: number | undefined): void;
  tryAcquire(now: number, key: number): void;
  extend(now: number, key: number): void;
  release(now: number, key: number): void;
  cancel(now: number, key: number): void;
  created(now: number, id: number, session: bigint, path: string, czxid: bigint): void;
  /** `names` are joined with slashes. */
  children(now: number, id: number, session: bigint, names: string): void;
  data(
    now: number,
    id: number,
    session: bigint,
    data: Uint8Array,
    czxid: bigint,
    ephemeralOwner: bigint,
    version: number,
  ): void;
  done(now: number, id: number, session: bigint): void;
  error(now: number, id: number, session: bigint, code: number): void;
  reply(now: number, id: number, value: unknown): void;
  failed(now: number, id: number, failure: string): void;
  /** Settles a command whose reply cannot be converted as unknown, and throws. */
  wrong(now: number, id: number, expected: string): never;
  session(now: number, state: string, session: bigint, timeout: number): void;
  watch(now: number, id: number, session: bigint, event: string): void;
  message(now: number, id: number): void;
  gone(now: number, id: number): void;
  handleTimeout(now: number): void;
  poll(only: number | undefined): unknown;
  close(now: number, key: number): void;
  shutdown(now: number): void;
  disconnect(now: number): void;
}

export function initSync(module: { module: Uint8Array }): void;
