/**
 * Machines of the hub that nobody asks anything of at present: one is kept for the next acquire of its lock, the others are closed.
 *
 * @module
 */

import { now } from "../clock.js";
import type { Hub, Settings } from "../hub/hub.js";
import type { Contender } from "./contender.js";
import { isRefusal } from "./mistakes.js";
import { contenderId, seed } from "./random.js";

/** How long an acquire may take: in ms, for ever, or as long as the server needs to say yes or no. */
export type AcquireTimeout = number | null | "try";

/** So many may wait to be closed: a program whose promises never rest is not to collect them. */
const MOST_LEAVING = 64;

interface Spare {
  readonly key: number;
  readonly settings: Settings;
}

/** The machines of one hub. */
export class Machines {
  readonly #hub: Hub;
  /** The machine that has given its lock back last: the next acquire of the same lock is its next attempt. */
  #spare: Spare | null = null;
  /** Machines that nobody asks anything of any more, still to be closed. */
  readonly #leaving: number[] = [];

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  /** Has a machine acquire the lock. A call that the hub refuses leaves no machine behind. */
  acquire(settings: Settings, acquireTimeout: AcquireTimeout): number {
    const present = now();
    const key = this.#take(present, settings);
    try {
      if (acquireTimeout === "try") {
        this.#hub.tryAcquire(present, key);
      } else {
        this.#hub.acquire(present, key, acquireTimeout ?? undefined);
      }
    } catch (error) {
      if (isRefusal(error)) {
        this.#hub.close(present, key);
      }
      throw error;
    }
    return key;
  }

  /** A machine at rest: one that knows the lock, or a new one. */
  #take(present: number, settings: Settings): number {
    const spare = this.#spare;
    if (spare?.settings === settings) {
      this.#spare = null;
      return spare.key;
    }
    return this.#hub.open(present, settings, contenderId(), seed());
  }

  /** A contender is over. Gives whether there are so many machines to be closed that it has to be done now. */
  leave({ key, state, settings, isClaim }: Contender): boolean {
    let over: number | undefined = key;
    // The machine of an owner's hold may serve other holds, and an operation is not claimed again.
    if (state === "released" && settings?.hasOwner === false && !isClaim) {
      over = this.#spare?.key;
      this.#spare = { key, settings };
    }
    if (over !== undefined) {
      this.#leaving.push(over);
    }
    return this.#leaving.length >= MOST_LEAVING;
  }

  /** Closes those that nobody asks anything of any more. Gives whether there were any. */
  close(): boolean {
    if (this.#leaving.length === 0) {
      return false;
    }
    const present = now();
    for (const key of this.#leaving.splice(0)) {
      this.#hub.close(present, key);
    }
    return true;
  }
}
