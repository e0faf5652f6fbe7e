/**
 * The errors of the client library, which are kept until an event needs one as its cause.
 *
 * @module
 */

import type { Event } from "../hub/outputs.js";
import { isError } from "../realms.js";

/** How many errors are kept. The error behind an event is among the last ones. */
const REMEMBERED = 64;

/** Errors of a program, not of a network. A retry would cause them again. */
const PROGRAMMING = ["TypeError", "ReferenceError", "RangeError", "SyntaxError"];

/**
 * Whether an error is a programming error: in fencepost, or in a client library whose interface differs from what the
 * driver expects.
 */
export function isProgramming(error: unknown): boolean {
  // Compared by name: some test runners have a second set of these classes.
  return isError(error) && PROGRAMMING.includes(error.name);
}

/** The errors of a client library. */
export class Causes {
  readonly #errors = new Map<number, unknown>();
  readonly #present: () => unknown;
  #trouble: unknown;

  /** `present` returns the reason why there is no connection at the moment, if the driver has reported none. */
  constructor(present: () => unknown) {
    this.#present = present;
  }

  /** Why there is no connection to the server. */
  get trouble(): unknown {
    return this.#trouble ?? this.#present();
  }

  set trouble(error: unknown) {
    this.#trouble = error;
  }

  /** Stores the error of a command. */
  set(id: number, error: unknown): void {
    if (this.#errors.size >= REMEMBERED) {
      for (const oldest of this.#errors.keys()) {
        this.#errors.delete(oldest);
        break;
      }
    }
    this.#errors.set(id, error);
  }

  /** The error that caused an event, if there is one. */
  of(event: Event): unknown {
    const command = "cause" in event ? event.cause.command : null;
    const error = command === null ? undefined : this.#errors.get(command);
    const unreachable = event.event === "refused" && event.reason.kind === "unreachable";
    return error ?? (unreachable ? this.trouble : undefined);
  }
}
