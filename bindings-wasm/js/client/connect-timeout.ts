/**
 * How long a client tries to reach its server.
 *
 * @module
 */

import { ConfigError, shown } from "../errors.js";
import { LONGEST_DURATION } from "../hub/checks.js";

/** How to reach a server. */
export interface ConnectTimeout {
  /**
   * How long an acquire waits for the first connection to the server, in ms (by default 5000). Then it rejects with
   * Refused `unreachable`, even if its own timeout is longer; the reason is the `cause`. After the first connection,
   * only the acquire's own timeout counts.
   */
  readonly connectTimeout?: number | undefined;
}

/** The time for the first connection, in ms, or undefined. */
export function checkedConnectTimeout(options: ConnectTimeout | undefined): number | undefined {
  const connectTimeout: unknown = options?.connectTimeout;
  if (connectTimeout === undefined) {
    return undefined;
  }
  const what = `connectTimeout is ${shown(connectTimeout)}`;
  if (typeof connectTimeout !== "number" || Number.isNaN(connectTimeout)) {
    throw new ConfigError(110, "invalid-option", `${what}: give a number of milliseconds`);
  }
  if (connectTimeout <= 0) {
    throw new ConfigError(103, "not-positive", `${what}: give more than 0 milliseconds`);
  }
  if (connectTimeout > LONGEST_DURATION) {
    throw new ConfigError(105, "too-long", `${what}: give at most 365 days, in milliseconds`);
  }
  return connectTimeout;
}
