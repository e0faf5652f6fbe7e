/**
 * Contenders with a deadline. All of them have the same limit, so the oldest one is due first.
 *
 * @module
 */

import { now } from "../clock.js";
import type { Contender } from "./contender.js";
import { List, remove } from "./list.js";

/** When a call stops waiting for a contender. */
interface Deadline {
  readonly contender: Contender;
  readonly until: number;
}

/** Contenders with the same limit, oldest first. A contender has at most one deadline. */
export class Deadlines {
  readonly #within: number;
  readonly #late: (contender: Contender) => void;
  readonly #waiting = new List<Deadline>();

  /** {@link ring} calls `late` for each contender that has waited for `within` ms. */
  constructor(within: number, late: (contender: Contender) => void) {
    this.#within = within;
    this.#late = late;
  }

  /** When the first one is due. */
  get next(): number | null {
    return this.#waiting.first?.value.until ?? null;
  }

  /** Adds a contender that has waited since that time. */
  add(contender: Contender, since: number): void {
    forgetDeadline(contender);
    contender.deadline = this.#waiting.add({ contender, until: since + this.#within });
  }

  clear(): void {
    this.#waiting.clear();
  }

  ring(): void {
    const present = now();
    for (let { first } = this.#waiting; first !== null && first.value.until <= present; { first } = this.#waiting) {
      remove(first);
      this.#late(first.value.contender);
    }
  }
}

/** No call waits for this contender any more. */
export function forgetDeadline(contender: Contender): void {
  if (contender.deadline !== null) {
    remove(contender.deadline);
    contender.deadline = null;
  }
}
