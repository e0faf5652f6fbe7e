/**
 * The client libraries' own errors, until it is known what has come of them.
 *
 * @module
 */

import type { Event } from "../hub/outputs.js";

/** How many errors are remembered: the one that ends something is among the last. */
const REMEMBERED = 64;

/** Errors that a program has made, not a network: asking again would bring them again. */
const PROGRAMMING = ["TypeError", "ReferenceError", "RangeError", "SyntaxError"];

/** Whether an error is a mistake in a program: of ours, or of a client library that has another interface than we take it for. */
export function isProgramming(error: unknown): boolean {
  // By its name: some test runners have a second set of these classes.
  return error instanceof Error && PROGRAMMING.includes(error.name);
}

/** What a client library has said. */
export class Causes {
  readonly #errors = new Map<number, unknown>();
  /** Why there is no connection to the server. */
  trouble: unknown;

  /** Remembers the error of a command. */
  set(id: number, error: unknown): void {
    if (this.#errors.size >= REMEMBERED) {
      for (const oldest of this.#errors.keys()) {
        this.#errors.delete(oldest);
        break;
      }
    }
    this.#errors.set(id, error);
  }

  /** The error that is behind an event, if there is one. */
  of(event: Event): unknown {
    const command = "cause" in event ? event.cause.command : null;
    const error = command === null ? undefined : this.#errors.get(command);
    const unreachable = event.event === "refused" && event.reason.kind === "unreachable";
    return error ?? (unreachable ? this.trouble : undefined);
  }
}
