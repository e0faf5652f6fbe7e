/**
 * Random numbers: owners from the platform's secure source, seeds from anywhere.
 *
 * @module
 */

const OWNER = 16;

/** Asking for many bytes at once costs hardly more than asking for a few. */
const pool = new Uint8Array(64 * OWNER);
let used = pool.length;

/** Sixteen bytes that no other contender has: that is a safety property. */
export function contenderId(): Uint8Array {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  used += OWNER;
  return pool.slice(used - OWNER, used);
}

/** A number that spreads retries and decides nothing. */
export function seed(): number {
  return Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
}
