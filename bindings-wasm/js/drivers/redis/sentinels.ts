/**
 * Redis Sentinel, with ioredis: selects the sentinels that the driver's own connections ask for the primary. Each of
 * these connections asks again, while the program's client may have asked hours ago.
 *
 * @module
 */

import type { Emitter } from "../events.js";

/** The members of a client of ioredis that concern sentinels. */
export interface Watched {
  readonly options?: {
    readonly sentinels?: readonly object[] | null | undefined;
    readonly sentinelCommandTimeout?: number | null | undefined;
    /** Whether the client leaves its server when a sentinel reports a failover. */
    readonly failoverDetector?: boolean | undefined;
  };
  /** ioredis adds the sentinels that other sentinels report. */
  readonly connector?: { readonly sentinelIterator?: { readonly sentinels?: readonly object[] } };
}

/**
 * How long a sentinel may take to reply, in ms. ioredis itself waits without limit. Three silent sentinels take less
 * time than the driver has for one connection.
 */
const ANSWER_WITHIN = 900;

/**
 * These options make a connection ask each sentinel once, and no sentinel afterwards. ioredis would keep connections to
 * sentinels after the end of the connection that they watch, and would ask again after its end.
 */
export const ONCE = {
  sentinelRetryStrategy: () => null,
  failoverDetector: false,
};

/** The sentinels of a client. */
export class Sentinels {
  readonly #given: Watched;
  /** How many have failed. The next connection begins with the one after them. */
  #failed = 0;

  constructor(given: Watched) {
    this.#given = given;
  }

  /** The options of the next connection. */
  options(): object {
    const { options, connector } = this.#given;
    const all = connector?.sentinelIterator?.sentinels ?? options?.sentinels ?? [];
    if (all.length === 0) {
      return {};
    }
    const first = this.#failed % all.length;
    return {
      sentinels: [...all.slice(first), ...all.slice(0, first)],
      sentinelCommandTimeout: Math.min(options?.sentinelCommandTimeout ?? ANSWER_WITHIN, ANSWER_WITHIN),
    };
  }

  /** Counts the sentinels that fail. */
  watch<C extends Emitter>(client: C): C {
    client.on("sentinelError", () => {
      this.#failed += 1;
    });
    return client;
  }
}
