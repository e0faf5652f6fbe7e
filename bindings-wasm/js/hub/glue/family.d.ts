/**
 * The exports of the WebAssembly module of a family (`src/*.rs`), with precise types. The build generates the glue
 * itself into `dist/hub/glue`.
 */

export class Settings {
  /** `fields` has the core's names and values in turn. The number of texts comes before a list of texts. */
  constructor(fields: string[]);
  free(): void;
}

/**
 * The settings of one scope of idempotent operations. A method that fails returns undefined; `errors.ts` then has the
 * error.
 */
export class Scope {
  /** `fields` has names and values, as for {@link Settings}. */
  constructor(fields: string[]);
  claim(key: string, fingerprint: Uint8Array): Settings | undefined;
  consume(token: string, binding: Uint8Array, fingerprint: Uint8Array): Settings | undefined;
  issue(token: string, binding: Uint8Array, life: number | undefined): Settings | undefined;
  register(
    key: string,
    binding: Uint8Array | undefined,
    fingerprint: Uint8Array,
    tag: string,
    result: Uint8Array,
  ): Settings | undefined;
  update(
    key: string,
    operation: string,
    version: number,
    fingerprint: Uint8Array,
    tag: string,
    result: Uint8Array,
  ): Settings | undefined;
  look(key: string): Settings | undefined;
  settle(key: string, guard: number, tag: string, result: Uint8Array): Settings | undefined;
  forget(key: string, guard: number): Settings | undefined;
  sweep(): Settings | undefined;
  /** Returns whether it has derived a key; `records.ts` then has the key. */
  derive(key: string, step: string): boolean;
}

/** The type of an option by the core's name: 1 duration, 2 whole, 3 flag, 4 text, 5 texts; 0 for an unknown name. */
export function optionType(name: string): number;

/** Returns whether the text is an address: `addresses.ts` then has it, otherwise `errors.ts` has the error. */
export function parseAddress(url: string): boolean;

/** A method that fails returns false (or 0); `errors.ts` then has the error. */
export class RawHub {
  constructor(family: string, seed: number);
  pending(): number;
  unreleased(): number;
  open(now: number, settings: Settings, contender: Uint8Array, seed: number): number;
  /** Refuses settings that another module made; always an error. */
  foreign(): boolean;
  acquire(now: number, key: number, acquireTimeout: number | undefined): boolean;
  tryAcquire(now: number, key: number): boolean;
  extend(now: number, key: number): boolean;
  release(now: number, key: number): boolean;
  complete(now: number, key: number, tag: string, result: Uint8Array): boolean;
  leave(now: number, key: number): boolean;
  downgrade(now: number, key: number): boolean;
  cancel(now: number, key: number): boolean;
  created(now: number, id: number, session: bigint, path: string, czxid: bigint): boolean;
  /** Slashes join the `names`. */
  children(now: number, id: number, session: bigint, names: string): boolean;
  data(
    now: number,
    id: number,
    session: bigint,
    data: Uint8Array,
    czxid: bigint,
    mzxid: bigint,
    ephemeralOwner: bigint,
    version: number,
    created: bigint,
    modified: bigint,
  ): boolean;
  done(now: number, id: number, session: bigint): boolean;
  error(now: number, id: number, session: bigint, code: number): boolean;
  /** Reports the reply that the six methods below have assembled. Each adds a part; an array follows its items. */
  reply(now: number, id: number): boolean;
  nil(): void;
  integer(number: bigint): void;
  bytes(bytes: Uint8Array): void;
  text(text: string): void;
  errorReply(message: string): void;
  gather(count: number): void;
  replyNumber(now: number, id: number, number: number): boolean;
  replyPair(now: number, id: number, number: number, bytes: Uint8Array): boolean;
  failed(now: number, id: number, failure: string): boolean;
  /** Reports an unknown outcome for a command whose reply cannot be converted; always an error. */
  wrong(now: number, id: number, expected: string): boolean;
  session(now: number, state: string, session: bigint, timeout: number): boolean;
  watch(now: number, id: number, session: bigint, event: string): boolean;
  message(now: number, id: number): boolean;
  gone(now: number, id: number): boolean;
  handleTimeout(now: number): boolean;
  poll(only: number | undefined): boolean;
  next(): void;
  close(now: number, key: number): number;
  serves(key: number): boolean;
  shutdown(now: number): boolean;
}

export function initSync(module: { module: Uint8Array }): void;
