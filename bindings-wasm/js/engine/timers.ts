/**
 * Timers that do not keep the process alive, and one timer that does so while a call waits.
 *
 * @module
 */

import { now } from "../clock.js";
import { type Timer, afterInput, clearInterval, clearTimeout, outside, setInterval, setTimeout } from "../host.js";

/** A longer timer would fire at once (2^31 - 1 ms). */
const LONGEST = 2_147_483_647;

/**
 * How often to read the clock while a timer is set, in ms: timers stop while the computer is suspended, but leases do
 * not.
 */
const LOOK_EVERY = 1000;

/** A timer that fires later than this was delayed by the event loop, in ms. */
const LATE = 2;

/** How long to wait for replies after a late timer, in ms: a few round trips. */
const GRACE = 150;

/** A longer delay means that the event loop was blocked, in ms. It exceeds the usual delay on a busy computer. */
export const STILL = 50;

/** How often {@link GRACE} is repeated if the event loop is blocked during it. */
const MOST_GRACES = 20;

function detach(timer: Timer): Timer {
  // In a browser a timer is a number, and does not keep anything alive.
  if (typeof timer === "object") {
    timer.unref();
  } else {
    (globalThis as { Deno?: { unrefTimer?: (timer: Timer) => void } }).Deno?.unrefTimer?.(timer);
  }
  return timer;
}

/** Calls a function after so many ms. It does not keep the process alive. */
export function later(delay: number, call: () => void): Timer {
  return detach(outside(() => setTimeout(call, Math.min(Math.max(delay, 0), LONGEST))));
}

/**
 * Calls a function after so many ms, unless the caller calls the returned function before. If the event loop was
 * blocked, it calls the function a little later, so that replies that have arrived are handled first. It does not keep
 * the process alive.
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

/** The time to wait for replies after a late {@link Alarm}. */
export class Grace {
  #until: number | null = null;
  #given = 0;

  /** When that time ends; null if there is none at present. */
  get until(): number | null {
    return this.#until;
  }

  /** An alarm was late by so many ms. Returns whether to wait for replies a little longer. */
  give(late: number): boolean {
    const again = late > STILL && this.#given < MOST_GRACES;
    if (late < LATE || (this.#until !== null && !again)) {
      return false;
    }
    this.#given += 1;
    this.#until = now() + Math.min(late, GRACE);
    return true;
  }

  /** No alarm is late any more. */
  end(): void {
    this.#until = null;
    this.#given = 0;
  }
}

/**
 * One timer whose time can be changed. It may fire early. If the event loop was blocked, it fires after the input that
 * has arrived, and reports by how many ms it is late.
 */
export class Alarm {
  readonly #ring: (late: number) => void;
  #timer: Timer | undefined;
  #at = Infinity;

  constructor(ring: (late: number) => void) {
    this.#ring = ring;
  }

  /**
   * Sets the latest time to fire; null for none. An earlier time stays set, because a timer that fires early does no
   * harm.
   */
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
          // It may have been cleared or set again.
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

/**
 * Keeps the process alive while calls wait. The client's other timers and sockets do not keep it alive, so it would end
 * during a call.
 */
export class KeepAlive {
  readonly #idle: () => void;
  #calls = 0;
  #timer: Timer | undefined;
  #attached = false;
  #isOver = false;

  /**
   * `idle` is called after the last call. It should call {@link settle} a little later, because the next call often
   * follows soon.
   */
  constructor(idle: () => void) {
    this.#idle = idle;
  }

  hold(): void {
    this.#calls += 1;
    if (this.#attached || this.#isOver) {
      return;
    }
    this.#attached = true;
    this.#timer ??= outside(() => setInterval(() => undefined, LONGEST));
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

  /** Keeps the process alive until the program's own function has ended. */
  async during<T>(run: () => T | PromiseLike<T>): Promise<T> {
    this.hold();
    try {
      return await run();
    } finally {
      this.drop();
    }
  }

  /** Lets the process end, if no call waits. */
  settle(): void {
    if (this.#calls > 0 || !this.#attached) {
      return;
    }
    this.#attached = false;
    if (typeof this.#timer === "object") {
      this.#timer.unref();
    } else {
      this.#clear();
    }
  }

  /** From now on nothing keeps the process alive, not even a function of the program that has not ended. */
  end(): void {
    this.#isOver = true;
    this.#clear();
  }

  #clear(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#attached = false;
  }
}
