/**
 * How long a client tries to reach its server.
 *
 * @module
 */

import { ConfigError, shown } from "../errors.js";

/** How to reach a server. */
export interface ConnectTimeout {
  /**
   * How long an acquire waits for the first connection to the server, in ms (5000): then it is refused as `unreachable`, whatever its own timeout, with the
   * reason as its cause. Once there has been a connection, an acquire waits as long as its timeout says.
   */
  readonly connectTimeout?: number | undefined;
}

/** The time for the first connection, in ms, or undefined. */
export function checkedConnectTimeout(options: ConnectTimeout | undefined): number | undefined {
  const connectTimeout: unknown = options?.connectTimeout;
  if (connectTimeout === undefined) {
    return undefined;
  }
  if (typeof connectTimeout !== "number" || !(connectTimeout > 0 && connectTimeout <= LONGEST)) {
    const text = `connectTimeout is ${shown(connectTimeout)}: it has to be a number of milliseconds from 1 to ${LONGEST}`;
    throw new ConfigError(110, "invalid-option", text);
  }
  return connectTimeout;
}

/** A day, in ms. */
const LONGEST = 24 * 3_600_000;
