/**
 * Timers that keep no process alive, and the one thing that does: a call that somebody waits for.
 *
 * @module
 */

import { now } from "../clock.js";

/** Longer ones fire at once (2^31 - 1 ms). */
const LONGEST = 2_147_483_647;

/** While something is due, look at the clock this often: timers stand still while the computer sleeps, leases do not. */
const LOOK_EVERY = 1000;

type Timer = ReturnType<typeof setTimeout>;

function detach(timer: Timer): Timer {
  // In a browser a timer is a number, and nothing needs to be done.
  if (typeof timer === "object") {
    timer.unref();
  } else {
    (globalThis as { Deno?: { unrefTimer?: (timer: Timer) => void } }).Deno?.unrefTimer?.(timer);
  }
  return timer;
}

/** Calls a function after so many ms; keeps no process alive. */
export function later(delay: number, call: () => void): Timer {
  return detach(setTimeout(call, Math.min(Math.max(delay, 0), LONGEST)));
}

/** One timer that is moved. It may ring early, never late. */
export class Alarm {
  readonly #ring: () => void;
  #timer: Timer | undefined;
  #at = Infinity;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** Rings at that time at the latest; null: need not ring at all. An earlier time stays set: ringing for nothing does no harm. */
  set(at: number | null): void {
    if (at === null || this.#at <= at) {
      return;
    }
    const present = now();
    const until = Math.min(at, present + LOOK_EVERY);
    if (this.#at <= until) {
      return;
    }
    clearTimeout(this.#timer);
    this.#at = until;
    this.#timer = later(Math.ceil(until - present), () => {
      this.#at = Infinity;
      this.#ring();
    });
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#at = Infinity;
  }
}

/** Keeps the process alive while calls are waited for: everything else of ours is detached, so the process would end in mid-call. */
export class KeepAlive {
  readonly #idle: () => void;
  #calls = 0;
  #timer: Timer | undefined;
  #attached = false;

  /** `idle` is called when the last call is over, and has {@link settle} called a little later: the next call is often near. */
  constructor(idle: () => void) {
    this.#idle = idle;
  }

  hold(): void {
    this.#calls += 1;
    if (this.#attached) {
      return;
    }
    this.#attached = true;
    this.#timer ??= setInterval(() => undefined, LONGEST);
    if (typeof this.#timer === "object") {
      this.#timer.ref();
    }
  }

  drop(): void {
    this.#calls -= 1;
    if (this.#calls === 0) {
      this.#idle();
    }
  }

  /** Lets the process end, if there is still no call. */
  settle(): void {
    if (this.#calls > 0 || !this.#attached) {
      return;
    }
    this.#attached = false;
    if (typeof this.#timer === "object") {
      this.#timer.unref();
    } else {
      this.clear();
    }
  }

  clear(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#attached = false;
  }
}
