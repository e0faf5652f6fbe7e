/**
 * The records of idempotent operations, and the constructors with which the WebAssembly module makes them.
 *
 * @module
 */

/** What the server knows of an operation, or of a value. Times are the server's, in ms since 1970. */
export interface RecordData {
  /** How far the operation has come: a token was issued, an attempt runs, there is a result. `value`: no operation, but a value for updates. */
  readonly state: "issued" | "running" | "done" | "value";
  /** The attempt that has brought it there. */
  readonly attempt: string;
  /** The fence of the last claim; 0n before the first one. */
  readonly fence: bigint;
  /** How often a claim has taken the operation over: it may have run once more each time. */
  readonly takeovers: number;
  /** What a claim gets when the lease of another attempt is over. The first claim of the operation has decided it. */
  readonly policy: "retake" | "block" | "indeterminate";
  /** When the lease ends; 0: there is none. */
  readonly leaseEnd: number;
  /** The last millisecond in which the record counts; 0: the server has not said it. */
  readonly keptUntil: number;
  /** A value's version, or the one that an update has made; otherwise 0. */
  readonly version: number;
  /** Names this state of the record: {@link Scope.settle} and {@link Scope.forget} change only the state that the caller has read. */
  readonly guard: number;
  /** What the result is: a short text of the program's. */
  readonly tag: string;
  /** The result, or the value. */
  readonly result: Uint8Array;
}

// In the order of the core.
const STATES = ["issued", "running", "done", "value"] as const;
const POLICIES = ["retake", "block", "indeterminate"] as const;

// The module makes them and leaves them here: see src/output.rs for why nothing is returned.
let made: RecordData | null = null;
let key = "";

/** @internal The record of the event that is being made, if it has one. */
export function takeRecord(): RecordData | null {
  const record = made;
  made = null;
  return record;
}

/** @internal */
export function record(
  state: number,
  attempt: string,
  fence: bigint,
  takeovers: number,
  policy: number,
  leaseEnd: number,
  keptUntil: number,
  version: number,
  guard: number,
  tag: string,
  result: Uint8Array,
): void {
  made = {
    state: STATES[state] ?? "running",
    attempt,
    fence,
    takeovers,
    policy: POLICIES[policy] ?? "retake",
    leaseEnd,
    keptUntil,
    version,
    guard,
    tag,
    // What arrives is a view of the module's memory.
    result: result.slice(),
  };
}

/** @internal The key that the module has derived last. */
export function takeDerived(): string {
  return key;
}

/** @internal */
export function derived(text: string): void {
  key = text;
}
