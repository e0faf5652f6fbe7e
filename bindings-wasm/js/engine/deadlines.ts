/**
 * Contenders that something has to come of by a certain time. All wait equally long, so the first that came is the first whose time is up.
 *
 * @module
 */

import { now } from "../clock.js";
import type { Contender } from "./contender.js";

/** Contenders with the same acquire timeout, oldest first. */
export class Deadlines {
  readonly #within: number;
  readonly #late: (contender: Contender) => void;
  readonly #waiting = new Map<Contender, number>();

  /** `late` is called by {@link ring} for each whose time, `within` ms, is up. */
  constructor(within: number, late: (contender: Contender) => void) {
    this.#within = within;
    this.#late = late;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** When the first one's time is up. */
  get next(): number | null {
    for (const until of this.#waiting.values()) {
      return until;
    }
    return null;
  }

  /** It waits since then. */
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
