/**
 * Answers that a server owes on one connection. A connection can be open while nothing comes through: only an answer that is overdue tells.
 *
 * @module
 */

import { now } from "../../clock.js";
import { deadline } from "../../engine/timers.js";

/**
 * How long a server may be silent while it owes an answer, in ms. An answer that takes longer than a third of the lease by default still counts, so this is
 * more; it is less than such a lease has left when its renewal is asked for, and less than a try waits, whose refusal is to name the silence.
 */
export const SILENT_AFTER = 4900;

/** The same for a client that closes: it waits for 5 s, and another connection is to be made within them. */
export const SILENT_AT_CLOSE = 1000;

/** Is told when an answer does not come. */
export type Fail = (error: Error) => void;

/** The answers of one connection after another. */
export class Unanswered {
  readonly #silent: (error: Error) => void;
  readonly #unanswered = new Set<Fail>();
  #limit = SILENT_AFTER;
  /** When the server has last answered, or had nothing to answer. */
  #since = 0;
  #cancel: (() => void) | null = null;

  /** `silent` is called when the server is. */
  constructor(silent: (error: Error) => void) {
    this.#silent = silent;
  }

  /** A request goes out. */
  begin(fail: Fail): void {
    if (this.#unanswered.size === 0) {
      this.#since = now();
    }
    this.#unanswered.add(fail);
    if (this.#cancel === null) {
      this.#watch(this.#limit);
    }
  }

  /** An answer has come, or there will be none. Gives whether somebody still waits for it. */
  settle(fail: Fail): boolean {
    this.#since = now();
    return this.#unanswered.delete(fail);
  }

  /** From now on the server has less time. */
  hurry(): void {
    this.#limit = SILENT_AT_CLOSE;
    this.#cancel?.();
    this.#cancel = null;
    if (this.#unanswered.size > 0) {
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
      if (this.#unanswered.size === 0) {
        return;
      }
      const left = this.#limit - (now() - this.#since);
      if (left > 0) {
        this.#watch(left);
        return;
      }
      const error = new Error(`the connection is open, but the server has not answered for ${this.#limit} ms`);
      const failed = [...this.#unanswered];
      this.#unanswered.clear();
      this.#silent(error);
      for (const fail of failed) {
        fail(error);
      }
    });
  }
}
