/**
 * The answers that a server owes on one connection. A connection can be open and deliver nothing, which only an overdue
 * answer shows.
 *
 * @module
 */

import { now } from "../../clock.js";
import { type Item, List, remove } from "../../engine/list.js";
import { deadline } from "../../engine/timers.js";

/**
 * How long a server may be silent while it owes an answer, in ms. It is longer than a third of the default lease,
 * because a later answer still counts. It is shorter than the rest of such a lease at its renewal, and than a try,
 * whose refusal has to name the silence.
 */
export const SILENT_AFTER = 4900;

/** The same for a client that closes. It waits for 5 s, and has to make another connection within them. */
export const SILENT_AT_CLOSE = 1000;

/** The answers owed on one connection after another. */
export class Unanswered<T> {
  readonly #silent: (error: Error, requests: T[]) => void;
  readonly #unanswered = new List<T>();
  #limit = SILENT_AFTER;
  /** When the server last answered, or owed no answer. */
  #since = 0;
  #cancel: (() => void) | null = null;

  /** `silent` is called when an answer is overdue, with the requests that have none. */
  constructor(silent: (error: Error, requests: T[]) => void) {
    this.#silent = silent;
  }

  /** A request is sent. Returns what {@link settle} takes. */
  begin(request: T): Item<T> {
    if (this.#unanswered.first === null) {
      this.#since = now();
    }
    if (this.#cancel === null) {
      this.#watch(this.#limit);
    }
    return this.#unanswered.add(request);
  }

  /** An answer has arrived, or none will. Returns whether a request still waits for it. */
  settle(request: Item<T>): boolean {
    this.#since = now();
    return remove(request);
  }

  /** From now on, an answer is overdue earlier. */
  shorten(): void {
    this.#limit = SILENT_AT_CLOSE;
    this.#cancel?.();
    this.#cancel = null;
    if (this.#unanswered.first !== null) {
      this.#watch(this.#limit);
    }
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#unanswered.clear();
  }

  #watch(delay: number): void {
    this.#cancel = deadline(delay, () => {
      this.#cancel = null;
      if (this.#unanswered.first === null) {
        return;
      }
      const left = this.#limit - (now() - this.#since);
      if (left > 0) {
        this.#watch(left);
        return;
      }
      const error = new Error(`the connection is open, but the server has not answered for ${this.#limit} ms`);
      this.#silent(error, this.#unanswered.clear());
    });
  }
}
