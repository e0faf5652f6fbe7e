/**
 * The claims of the requests that run.
 *
 * @module
 */

import type { Claim } from "../client/claim.js";

const claims = new WeakMap<object, Claim>();

/**
 * The claim of a request. The argument is the request in Express and Fastify, and the context in Hono. A handler reads
 * the claim's `takeovers`, `fence` and `signal`, and derives the keys of its steps at other services. The middleware
 * ends the claim.
 *
 * Returns null if the request runs without a claim.
 */
export function claimOf(request: object): Claim | null {
  return claims.get(request) ?? null;
}

/** Lets the handler of a request see its claim. */
export function show(request: object, claim: Claim): void {
  claims.set(request, claim);
}
