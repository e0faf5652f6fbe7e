/**
 * The responses that the middleware makes itself.
 *
 * @module
 */

import { bytesOfLine } from "./bytes.js";
import type { Header, Reply } from "./response.js";

/** Each problem: its status, title and detail. They contain nothing from the request. */
const PROBLEMS = {
  "key-missing": [
    400,
    "Idempotency-Key is missing",
    "Send the header Idempotency-Key: a new key for each operation, and the same key for each retry.",
  ],
  "key-malformed": [
    400,
    "Idempotency-Key is malformed",
    "Send one key of 1 to 255 ASCII characters: a quoted string, or a bare one without spaces, quotation marks, " +
      "backslashes, commas and semicolons.",
  ],
  "in-progress": [
    409,
    "The operation is in progress",
    "Another request with this key is being processed. Retry with the same key later.",
  ],
  "indeterminate": [
    409,
    "The outcome is unknown",
    "An earlier request with this key ended without a result. It may have taken effect, so it is not processed " +
      "again. Find out what happened.",
  ],
  "body-too-large": [
    413,
    "The request body is too large",
    "The server does not accept a body of this size with a key. The request was not processed.",
  ],
  "mismatch": [
    422,
    "The key belongs to another request",
    "A request with this key had another method, path, query, body or session. Use a new key for each operation.",
  ],
  "unknown-token": [422, "The form has expired", "The token was never issued, or it has expired. Load the form again."],
  "corrupt-record": [
    500,
    "The record cannot be read",
    "The stored record of this key cannot be read. The request was not processed.",
  ],
  "store-unavailable": [
    503,
    "The store is unavailable",
    "The keys cannot be checked now. The request was not processed. Retry with the same key.",
  ],
} as const;

/** The name of a problem. */
export type Problem = keyof typeof PROBLEMS;

/** The names of all problems. */
export const NAMES = Object.keys(PROBLEMS) as readonly Problem[];

/** The response that reports a problem. */
export function problem(name: Problem, ...more: readonly Header[]): Reply {
  const [status, title, detail] = PROBLEMS[name];
  const body = bytesOfLine(JSON.stringify({ type: `urn:fencepost:http:${name}`, title, status, detail }));
  const headers: Header[] = [
    ["content-type", "application/problem+json"],
    ["cache-control", "no-store"],
    ["content-length", String(body.length)],
    ...more,
  ];
  return { status, headers, body };
}

/** The value of Retry-After for an operation that runs, in seconds. `rest` is its remaining lease in ms. */
export function retryAfter(rest: number | null): number {
  return rest === null ? UNKNOWN_WAIT : Math.max(1, Math.ceil(rest / 1000));
}

const UNKNOWN_WAIT = 30;
