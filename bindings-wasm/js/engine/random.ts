/**
 * Random numbers: contender ids from the platform's secure source, seeds from any source.
 *
 * @module
 */

const OWNER = 16;

/** One request for many bytes costs little more than one for a few. */
const pool = new Uint8Array(64 * OWNER);
let used = pool.length;

/** A contender id: sixteen bytes that no other contender has. Safety depends on that. */
export function contenderId(): Uint8Array {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  used += OWNER;
  return pool.slice(used - OWNER, used);
}

/** A seed. It only spreads retries over time. */
export function seed(): number {
  return Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
}
