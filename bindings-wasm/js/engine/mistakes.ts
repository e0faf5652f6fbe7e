/**
 * A programming error ends every call of a client.
 *
 * @module
 */

import { type DriverError, FencepostError, type LockLost, MisuseError, driverFailed, loss, named } from "../errors.js";
import type { Contender } from "./contender.js";

/** Whether the hub has refused a call. Then the caller made a mistake, and nothing has changed. */
export function isRefusal(error: unknown): error is FencepostError {
  return error instanceof FencepostError;
}

/** Whether the hub can still be used. */
export class Reliance {
  /** The first programming error. A retry would cause it again, so the client sends nothing more. */
  failed: DriverError | null = null;
  /** The hub was abandoned, or the client is closed. */
  over = false;
  readonly #broken: (error: unknown) => void;
  readonly #refused: () => void;

  /** `broken` is called with every error that is no refusal, `refused` after a call that the hub has refused. */
  constructor(broken: (error: unknown) => void, refused: () => void) {
    this.#broken = broken;
    this.#refused = refused;
  }

  /** @throws DriverError after a programming error. */
  check(): void {
    if (this.failed !== null) {
      throw this.failed;
    }
  }

  /** Stores the first programming error. Later ones may be its consequences. */
  fail(error: unknown): DriverError {
    this.failed ??= driverFailed(error);
    return this.failed;
  }

  /** Uses the hub, unless it was abandoned. */
  use(call: () => void): void {
    try {
      if (!this.over) {
        call();
      }
    } catch (error) {
      this.#broken(error);
    }
  }

  /**
   * Calls the hub for the program. An error's text names `lock`. @throws the hub's error if it refuses the call;
   * DriverError for any other error.
   */
  ask<T>(lock: string, call: () => T): T {
    try {
      return call();
    } catch (error) {
      if (!isRefusal(error)) {
        this.#broken(error);
        throw this.failed ?? error;
      }
      this.#refused();
      throw error instanceof MisuseError
        ? new MisuseError(error.code, error.kind, `${named(lock)}: ${error.message}`)
        : error;
    }
  }
}

/** Ends a contender that waits for an acquire or a release. Returns whether it did. */
export function endWaiting(contender: Contender, failed: DriverError): boolean {
  const waits = contender.state === "waiting" || contender.state === "releasing";
  if (waits) {
    contender.end("refused", failed);
  }
  return waits;
}

/** Ends all contenders: the hub, which reports the end of grants, is not reliable any more. */
export function endAll(contenders: Iterable<Contender>, failed: DriverError): void {
  for (const contender of [...contenders]) {
    if (!endWaiting(contender, failed) && !contender.over) {
      contender.end("lost", lost(contender, failed));
    }
  }
}

function lost({ lock, isClaim }: Contender, failed: DriverError): LockLost {
  const why = `${named(lock)}: the client has failed, and does not know how long the lock is held: ${failed.message}`;
  return loss(isClaim, 406, "lost-connection-closed", why, { cause: failed });
}
