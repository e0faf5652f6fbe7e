/**
 * The records of idempotent operations, and the functions with which the WebAssembly module makes them.
 *
 * @module
 */

/** What the server stores for an operation or a value. Times are the server's, in ms since 1970. */
export interface RecordData {
  /**
   * The state of the operation: a token is issued, an attempt runs, or there is a result. `value`: the record is a
   * value with a version, for updates.
   */
  readonly state: "issued" | "running" | "done" | "value";
  /** The attempt that wrote the record. */
  readonly attempt: string;
  /** The fence of the last claim; 0n before the first claim. */
  readonly fence: bigint;
  /** How many takeovers the operation has had. It may have run once more for each. */
  readonly takeovers: number;
  /**
   * The result of a claim after the lease of another attempt has ended. The first claim of the operation sets this
   * rule.
   */
  readonly policy: "retake" | "block" | "indeterminate";
  /**
   * When the lease ends; 0 if there is none. On ZooKeeper a lease lasts as long as the session of its process: this is
   * `Infinity` until then, and 0 afterwards.
   */
  readonly leaseEnd: number;
  /** The last millisecond of the record's retention; 0 if the server has not reported it. */
  readonly keptUntil: number;
  /** The version of a value, or the version that an update made; otherwise 0. */
  readonly version: number;
  /**
   * Identifies this state of the record. {@link Scope.settle} and {@link Scope.forget} change only the state that the
   * caller has read.
   */
  readonly guard: number;
  /** The tag of the result: a short text with which the program describes the result. */
  readonly tag: string;
  /** The result, or the value. */
  readonly result: Uint8Array;
}

// In the order of the core.
const STATES = ["issued", "running", "done", "value"] as const;
const POLICIES = ["retake", "block", "indeterminate"] as const;

// The module stores them here: src/output.rs explains why nothing is returned.
let made: RecordData | null = null;
let key = "";

/** @internal Takes the record of the event that the module makes, if it has one. */
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
    leaseEnd: leaseEnd > Number.MAX_SAFE_INTEGER ? Infinity : leaseEnd,
    keptUntil,
    version,
    guard,
    tag,
    // `result` is a view of the module's memory.
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
