/**
 * Timers that keep no process alive, and the one thing that does: a call that somebody waits for.
 *
 * @module
 */

import { now } from "../clock.js";
import { type Timer, afterInput, clearInterval, clearTimeout, setInterval, setTimeout } from "../host.js";

/** Longer ones fire at once (2^31 - 1 ms). */
const LONGEST = 2_147_483_647;

/** While something is due, look at the clock this often: timers stand still while the computer sleeps, leases do not. */
const LOOK_EVERY = 1000;

/** A timer that rings later than this has waited for the event loop, in ms. */
const LATE = 2;

/** How long answers are waited for when a timer rings late, in ms: a few round trips. */
const GRACE = 150;

/** The event loop has stood still: more than a timer's usual delay on a busy machine, in ms. */
const STILL = 50;

/** So often is the {@link GRACE} given again when the event loop stands still in it. */
const MOST_GRACES = 20;

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

/**
 * Calls a function after so many ms, unless what it returns is called before. An answer that has arrived beats a timer that is late: when the event loop has
 * stood still, the function is called a little later, so that what has arrived meanwhile is heard before it. Keeps no process alive.
 */
export function deadline(delay: number, call: () => void): () => void {
  let timer: Timer;
  let graces = 0;
  const wait = (delay: number) => {
    const due = now() + delay;
    timer = later(delay, () => {
      if (now() - due > STILL && graces < MOST_GRACES) {
        graces += 1;
        wait(GRACE);
      } else {
        call();
      }
    });
  };
  wait(delay);
  return () => clearTimeout(timer);
}

/** For how long answers are still waited for when an {@link Alarm} has rung late, behind what had arrived. */
export class Grace {
  #until: number | null = null;
  #given = 0;

  /** When time is up, or null: it is not given at present. */
  get until(): number | null {
    return this.#until;
  }

  /** An alarm has rung so much too late. Gives whether answers are waited for a little longer. */
  give(late: number): boolean {
    const again = late > STILL && this.#given < MOST_GRACES;
    if (late < LATE || (this.#until !== null && !again)) {
      return false;
    }
    this.#given += 1;
    this.#until = now() + Math.min(late, GRACE);
    return true;
  }

  /** Nothing is late any more. */
  end(): void {
    this.#until = null;
    this.#given = 0;
  }
}

/** One timer that is moved. It may ring early. When the event loop has stood still it rings behind what has arrived meanwhile, and says how late that is, in ms. */
export class Alarm {
  readonly #ring: (late: number) => void;
  #timer: Timer | undefined;
  #at = Infinity;

  constructor(ring: (late: number) => void) {
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
      const late = now() - Math.min(at, until);
      if (late < LATE) {
        this.#at = Infinity;
        this.#ring(0);
      } else {
        afterInput(() => {
          // It may have been cleared, or set again, meanwhile.
          if (this.#at === until) {
            this.#at = Infinity;
            this.#ring(late);
          }
        });
      }
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
