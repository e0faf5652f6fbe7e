/**
 * A mistake in a program ends every call of a client.
 *
 * @module
 */

import { type DriverError, FencepostError, LockLost, MisuseError, driverFailed, named } from "../errors.js";
import type { Contender } from "./contender.js";

/** Whether an error of a call into the hub is the caller's own: the hub has refused the call, and nothing has changed. */
export function isRefusal(error: unknown): error is FencepostError {
  return error instanceof FencepostError;
}

/** Whether the hub can still be used. */
export class Reliance {
  /** A mistake in a program, which asking again would meet again: nothing is asked any more. */
  failed: DriverError | null = null;
  /** The hub has been given up, or the client closed. */
  over = false;
  readonly #broken: (error: unknown) => void;
  readonly #refused: () => void;

  /** `broken` hears of every error that is no refusal, `refused` of a call that the hub has refused. */
  constructor(broken: (error: unknown) => void, refused: () => void) {
    this.#broken = broken;
    this.#refused = refused;
  }

  /** @throws DriverError after a mistake. */
  check(): void {
    if (this.failed !== null) {
      throw this.failed;
    }
  }

  /** The first mistake counts: what comes later may come of it. */
  fail(error: unknown): DriverError {
    this.failed ??= driverFailed(error);
    return this.failed;
  }

  /** Uses the hub, unless it has been given up. */
  use(call: () => void): void {
    try {
      if (!this.over) {
        call();
      }
    } catch (error) {
      this.#broken(error);
    }
  }

  /** Asks the hub for the program. `lock`: what an error speaks of. @throws what the hub refuses; DriverError for any other error. */
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

/** What waits for an acquire or a release ends. Gives whether it has. */
export function endWaiting(contender: Contender, failed: DriverError): boolean {
  const waits = contender.state === "waiting" || contender.state === "releasing";
  if (waits) {
    contender.end("refused", failed);
  }
  return waits;
}

/** Everything ends: the hub that would say what becomes of a grant cannot be relied on any more. */
export function endAll(contenders: Iterable<Contender>, failed: DriverError): void {
  for (const contender of [...contenders]) {
    if (!endWaiting(contender, failed) && !contender.over) {
      contender.end("lost", lost(contender.lock, failed));
    }
  }
}

function lost(lock: string, failed: DriverError): LockLost {
  const why = `${lock}: the client has failed, and cannot say how long the lock is held: ${failed.message}`;
  return new LockLost(406, "lost-connection-closed", why, { cause: failed });
}
