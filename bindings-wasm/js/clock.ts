/**
 * The clock: milliseconds that do not go back and go on while the computer sleeps.
 *
 * `performance.now()` stands still during a suspend (on Linux), so that a lease would look alive after it. Node.js can say how long the
 * machine has been up, suspends included: the clock is moved forward by what is missing. It asks when the wall clock has moved in another way than
 * `performance.now()`, and four times a second besides, because asking reads a file.
 *
 * @module
 */

import { builtin, performance } from "./host.js";

interface Os {
  uptime(): number;
}

/** Finer differences are noise: the uptime has a resolution of 10 ms. */
const NOTICEABLE = 30;
const ASK_EVERY = 250;

/** A clock from its sources, all in ms; `uptime` is not there in a browser. */
export function clockOf(steady: () => number, wall: () => number, uptime: (() => number) | null): () => number {
  if (uptime === null) {
    return steady;
  }
  let ahead = 0;
  let asked = steady();
  let wallAhead = wall() - asked;
  const upAhead = uptime() - asked;
  return () => {
    const now = steady();
    const drift = wall() - now - wallAhead;
    if (drift > NOTICEABLE || drift < -NOTICEABLE || now - asked > ASK_EVERY) {
      asked = now;
      wallAhead += drift;
      const missing = uptime() - now - upAhead;
      if (missing > ahead + NOTICEABLE) {
        ahead = missing + NOTICEABLE;
      }
    }
    return now + ahead;
  };
}

// A program's tests may replace the clocks later: leases are not to be fooled by that.
const { Date: WallClock } = globalThis;
const steady = performance.now.bind(performance);
const wall = WallClock.now.bind(WallClock);
const os = builtin("node:os") as Os | undefined;

/** The present, in ms since some start. */
export const now = clockOf(steady, wall, os === undefined ? null : () => os.uptime() * 1000);
