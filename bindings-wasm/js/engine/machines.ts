/**
 * Machines of the hub that serve no contender at present. One is kept for the next acquire of its lock; the others are
 * closed.
 *
 * @module
 */

import { now } from "../clock.js";
import type { Hub, Settings } from "../hub/hub.js";
import type { Contender } from "./contender.js";
import { isRefusal } from "./mistakes.js";
import { contenderId, seed } from "./random.js";

/** The acquire timeout: in ms, none (null), or a try. */
export type AcquireTimeout = number | null | "try";

/**
 * At most so many machines wait to be closed. Otherwise a program whose promise queue is never empty would collect
 * them.
 */
const MOST_LEAVING = 64;

interface Spare {
  readonly key: number;
  readonly settings: Settings;
}

/** The machines of one hub. */
export class Machines {
  readonly #hub: Hub;
  readonly #forget: (key: number) => void;
  /** The machine whose lock was released last. The next acquire of the same lock is its next attempt. */
  #spare: Spare | null = null;
  /** Machines that serve no contender, and have to be closed. */
  readonly #leaving: number[] = [];

  /** `forget`: a machine is not used any more, or begins a new attempt, so its watches are of no use. */
  constructor(hub: Hub, forget: (key: number) => void) {
    this.#hub = hub;
    this.#forget = forget;
  }

  /** Begins an acquire with a machine. If the hub refuses the call, it closes the machine. */
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

  /** Takes an idle machine that was used for this lock, or opens a new one. */
  #take(present: number, settings: Settings): number {
    const spare = this.#spare;
    if (spare?.settings === settings) {
      this.#spare = null;
      return spare.key;
    }
    return this.#hub.open(present, settings, contenderId(), seed());
  }

  /** A contender has ended. Returns whether so many machines wait that they have to be closed now. */
  leave({ key, state, settings, isClaim }: Contender): boolean {
    let over: number | undefined = key;
    // The machine of an owner's hold may serve other holds. A claim's operation is not claimed again.
    if (state === "released" && settings?.hasOwner === false && !isClaim) {
      over = this.#spare?.key;
      this.#forget(key);
      this.#spare = { key, settings };
    }
    if (over !== undefined) {
      this.#leaving.push(over);
    }
    return this.#leaving.length >= MOST_LEAVING;
  }

  /** Closes the machines that serve no contender. Returns whether there were any. */
  close(): boolean {
    if (this.#leaving.length === 0) {
      return false;
    }
    const present = now();
    for (const key of this.#leaving.splice(0)) {
      const unused = this.#hub.close(present, key);
      if (unused !== undefined) {
        this.#forget(unused);
      }
    }
    return true;
  }
}
