/**
 * The clock: milliseconds that do not go back and go on while the computer sleeps.
 *
 * `performance.now()` stands still during a suspend (on Linux), so that a lease would look alive after it. Node.js can say how long the
 * machine has been up, suspends included: the clock is moved forward by what is missing. It asks when the wall clock has moved in another way than
 * `performance.now()`, and four times a second besides, because asking reads a file. Deno says it to programs that may ask (`--allow-sys`).
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

/** What Deno says of what a program may ask for. To ask without a permission would throw, or put a question to the user. */
interface Permissions {
  querySync(what: { readonly name: "sys"; readonly kind: "osUptime" }): { readonly state: string };
}

function uptime(): (() => number) | null {
  const { Deno: deno } = globalThis as { Deno?: { readonly permissions: Permissions } };
  if (deno !== undefined && deno.permissions.querySync({ name: "sys", kind: "osUptime" }).state !== "granted") {
    return null;
  }
  const os = builtin("node:os") as Os | undefined;
  return typeof os?.uptime === "function" ? () => os.uptime() * 1000 : null;
}

/** The present, in ms since some start. */
export const now = clockOf(steady, wall, uptime());
