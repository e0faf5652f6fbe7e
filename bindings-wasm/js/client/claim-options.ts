/**
 * The options of a claim.
 *
 * @module
 */

import type { Bytes } from "./bytes.js";
import type { Signal } from "./signal.js";

/** How to wait for an operation that another attempt runs. */
export interface WaitOptions {
  /** The timeout in ms, which covers everything, connecting included. Without it, the claim waits for ever. */
  readonly timeout?: number | undefined;
  /** `false`: the claim does not wait at all. */
  readonly wait?: boolean | undefined;
  /** Cancels the claim when it is aborted. The claim then rejects with the signal's reason. */
  readonly signal?: Signal | undefined;
}

/** Options of `Idempotency.claim`. */
export interface ClaimOptions extends WaitOptions {
  /**
   * A digest of the request, of at most 1024 bytes. The server refuses a claim of the same key with another
   * fingerprint.
   */
  readonly fingerprint?: Bytes | undefined;
}
