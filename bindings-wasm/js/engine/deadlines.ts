/**
 * Contenders with a deadline. All of them have the same limit, so the oldest one is due first.
 *
 * @module
 */

import { now } from "../clock.js";
import type { Contender } from "./contender.js";

/** Contenders with the same limit, oldest first. */
export class Deadlines {
  readonly #within: number;
  readonly #late: (contender: Contender) => void;
  readonly #waiting = new Map<Contender, number>();

  /** {@link ring} calls `late` for each contender that has waited for `within` ms. */
  constructor(within: number, late: (contender: Contender) => void) {
    this.#within = within;
    this.#late = late;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** When the first one is due. */
  get next(): number | null {
    for (const until of this.#waiting.values()) {
      return until;
    }
    return null;
  }

  /** Adds a contender that has waited since that time. */
  add(contender: Contender, since: number): void {
    this.#waiting.set(contender, since + this.#within);
  }

  delete(contender: Contender): void {
    this.#waiting.delete(contender);
  }

  clear(): void {
    this.#waiting.clear();
  }

  ring(): void {
    const present = now();
    for (const [contender, until] of this.#waiting) {
      if (until > present) {
        return;
      }
      this.#waiting.delete(contender);
      this.#late(contender);
    }
  }
}
