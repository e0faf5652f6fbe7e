/**
 * The clock: milliseconds that never go back, and that continue while the computer sleeps.
 *
 * On Linux, `performance.now()` stops while the computer is suspended, so a lease would seem valid after it has ended.
 * Node.js has the machine's uptime, which includes suspends. This clock moves forward by the difference. It reads the
 * uptime when the wall clock has moved differently from `performance.now()`, and otherwise only four times a second,
 * because each call reads a file. In Deno, this needs the permission `--allow-sys`.
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

/** A clock from its sources, all in ms; `uptime` is null in a browser. */
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

// A program's tests may replace the clocks later. That must not affect leases.
const { Date: WallClock } = globalThis;
const steady = performance.now.bind(performance);
const wall = WallClock.now.bind(WallClock);

/** The permissions of a program in Deno. To read the uptime without one would throw, or would prompt the user. */
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
