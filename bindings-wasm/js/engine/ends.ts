/**
 * The errors of grants and acquires that ended without the program's request.
 *
 * @module
 */

import {
  Conflict,
  type FencepostError,
  InProgress,
  Indeterminate,
  Mismatch,
  NotAcquired,
  Refused,
  loss,
  named,
  whereabouts,
} from "../errors.js";
import type { Event } from "../hub/outputs.js";

/** The contender whose error it is. */
interface Subject {
  readonly lock: string;
  readonly isClaim: boolean;
}

export type Ended = Extract<Event, { event: "lost" | "refused" }>;

/** The error for the program; `native` is the client library's error. */
export function describe(
  { lock, isClaim }: Subject,
  { event, reason, cause }: Ended,
  native: unknown,
  at: string,
): FencepostError {
  const said = cause.detail === null ? "" : ` (${cause.detail})`;
  const detail = reason.kind === "unreachable" && said === "" ? whereabouts(at, native) : said;
  const { code, kind } = reason;
  const message = `${named(lock)}: ${reason.message}${detail}`;
  const options = native === undefined ? {} : { cause: native };
  if (event === "lost") {
    return loss(isClaim, code, kind, message, options);
  }
  switch (kind) {
    case "timeout":
    case "not-available":
      return new NotAcquired(code, kind, message, options);
    case "in-progress":
      return new InProgress(code, kind, message, options, cause.retryAfter);
    case "mismatch":
      return new Mismatch(code, kind, message, options);
    case "indeterminate":
      return new Indeterminate(code, kind, message, options);
    case "conflict":
      return new Conflict(code, kind, message, options, cause.record);
    default:
      return new Refused(code, kind, message, options);
  }
}
