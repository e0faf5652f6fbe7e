/**
 * The requests on one connection that have no reply yet. A connection can be open and deliver nothing: only an overdue
 * reply shows this.
 *
 * @module
 */

import { now } from "../../clock.js";
import { type Item, List, remove } from "../../engine/list.js";
import { deadline } from "../../engine/timers.js";

/**
 * How long a server may be silent while a request has no reply, in ms. It is longer than a third of the default lease,
 * because a late reply is still useful. It is shorter than the rest of such a lease at its renewal, and than a try,
 * because the error of the try has to report the silence.
 */
export const SILENT_AFTER = 4900;

/** The same for a client that closes. It waits for 5 s, and has to make another connection in that time. */
export const SILENT_AT_CLOSE = 1000;

/** The requests without a reply, on one connection after another. */
export class Unanswered<T> {
  readonly #silent: (error: Error, requests: T[]) => void;
  readonly #unanswered = new List<T>();
  #limit = SILENT_AFTER;
  /** When the server last replied, or when no request was pending. */
  #since = 0;
  #cancel: (() => void) | null = null;

  /** `silent` is called when a reply is overdue, with the requests that have none. */
  constructor(silent: (error: Error, requests: T[]) => void) {
    this.#silent = silent;
  }

  /** A request is sent. Returns the argument for {@link settle}. */
  begin(request: T): Item<T> {
    if (this.#unanswered.first === null) {
      this.#since = now();
    }
    if (this.#cancel === null) {
      this.#watch(this.#limit);
    }
    return this.#unanswered.add(request);
  }

  /** A reply has arrived, or none will arrive. Returns whether the request was still pending. */
  settle(request: Item<T>): boolean {
    this.#since = now();
    return remove(request);
  }

  /** From now on, a reply is overdue after a shorter time. */
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
