/**
 * Locks on one connection.
 *
 * @module
 */

import type { Driver } from "../drivers/driver.js";
import { unreadable } from "../errors.js";
import { Settings } from "../hub.js";
import type { SettingsData } from "../settings.js";
import { Engine } from "./engine.js";
import { Lock } from "./lock.js";
import { known } from "./options.js";

/** Settings of a lock. Durations in ms. */
export interface LockOptions {
  /** Redis: the lease (10000). */
  readonly ttl?: number | undefined;
  /** Redis: whether the lease is renewed until the release (true). */
  readonly renew?: boolean | undefined;
  /** The longest hold allowed (no limit). */
  readonly maxHold?: number | undefined;
  /** Redis: what is taken off the lease's validity beside drift (2). */
  readonly margin?: number | undefined;
  /** Redis: how often a waiter asks, at the latest (100). */
  readonly poll?: number | undefined;
  /** How long one answer may take before a try counts as unreachable (5000). */
  readonly answerWithin?: number | undefined;
}

/**
 * Locks on one connection: made by {@link connect}, {@link fromRedis} or {@link fromZooKeeper}.
 *
 * Nothing of it keeps the process alive but a call that is being waited for. Close it, or bind it with `await using`.
 */
export class Client {
  readonly #engine: Engine;
  readonly #family: "zookeeper" | "redis";
  readonly #prefix: string;

  /** @internal */
  constructor(driver: Driver, prefix = "") {
    this.#family = driver.family;
    this.#prefix = prefix;
    this.#engine = new Engine(driver);
  }

  /** Whether the client has been closed. */
  get closed(): boolean {
    return this.#engine.closed;
  }

  /**
   * A lock. Sends nothing.
   *
   * @throws ConfigError for a name or setting that makes no sense; MisuseError if the client has been closed.
   */
  lock(name: string, options?: LockOptions): Lock {
    this.#engine.check();
    if (typeof name !== "string") {
      throw unreadable("the name of a lock has to be a string");
    }
    known(options, "ttl", "renew", "maxHold", "margin", "poll", "answerWithin");
    const data = {
      ...options,
      kind: this.#family === "redis" ? "redis-string" : "zookeeper-mutex",
      name,
      ...(this.#family === "zookeeper" && { prefix: this.#prefix }),
    };
    for (const [key, value] of Object.entries(data)) {
      if (value === undefined) {
        Reflect.deleteProperty(data, key);
      }
    }
    return new Lock(this.#engine, name, new Settings(data as SettingsData));
  }

  /**
   * Releases all grants, gives up all waiting acquires, and waits at most 5 s for the server's answers. Closing again waits for the same.
   *
   * @throws CleanupIncomplete with the count of what had to be left: it goes with its lease or session.
   */
  close(): Promise<void> {
    return this.#engine.close();
  }

  /** See {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
