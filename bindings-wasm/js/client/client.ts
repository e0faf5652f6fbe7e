/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Locks on one connection.
 *
 * @module
 */

import { type Driver, MEMORY } from "../drivers/driver.js";
import { unreadable } from "../errors.js";
import type { Module } from "../families/module.js";
import { Settings } from "../hub.js";
import type {
  ElectionOptions,
  LockOptions,
  MultiLockOptions,
  ReadWriteLockOptions,
  SemaphoreOptions,
} from "../lock-options.js";
import type { ContenderData } from "../outputs.js";
import type { SettingsData } from "../settings.js";
import { INSPECT, inspected } from "../shown.js";
import { Engine } from "./engine.js";
import { type Inspect, Lock } from "./lock.js";
import { withOptions } from "./options.js";
import { Election, ReadWriteLock } from "./recipes.js";

type LockParts = ConstructorParameters<typeof Lock>;

interface Reach {
  readonly prefix?: string | undefined;
  readonly connectTimeout?: number | undefined;
}

/**
 * Locks on one connection: made by {@link connect}, {@link fromRedis} or {@link fromZooKeeper}.
 *
 * Nothing of it keeps the process alive but a call that is being waited for. Close it, or bind it with `await using`.
 */
export class Client {
  readonly #engine: Engine;
  readonly #module: Module;
  readonly #at: string;
  /** What the settings of all locks have; the rest is what an inspection adds. */
  readonly #place: Pick<SettingsData, "server" | "prefix" | "action" | "node" | "fence">;

  /** @internal */
  constructor(driver: Driver, { prefix, connectTimeout }: Reach = {}) {
    this.#module = driver.module;
    this.#at = driver.at;
    const server = driver.at === MEMORY ? "memory" : driver.family;
    this.#place = { server, prefix, action: undefined, node: undefined, fence: undefined };
    this.#engine = new Engine(driver, connectTimeout);
  }

  /** Whether the client has been closed. */
  get closed(): boolean {
    return this.#engine.closed;
  }

  /**
   * A lock. Sends nothing.
   *
   * An owner, in your own words such as `"request-17"`, makes it re-entrant. While an owner holds a lock, each further acquire of the same name and kind
   * by it on this client gives at once, without a request, a grant of its own with the same fence; the last release gives the lock back. Settings and lease
   * are those of the first acquire. Without an owner every acquire is a contender of its own.
   *
   * With `fair: false` the lock is one node on ZooKeeper: the cheapest lock there is for a try. Whoever comes first at a release gets it, and all who wait
   * wake then. Such a lock has no layout, and cannot be asked for.
   *
   * @throws ConfigError for a name or option that makes no sense; MisuseError if the client has been closed.
   */
  lock(name: string, options?: LockOptions): Lock {
    return new Lock(...this.#lock({ kind: "lock", name }, options));
  }

  /**
   * ZooKeeper: a lock that readers share and a writer has alone. Sends nothing.
   *
   * ```ts
   * const prices = client.readWriteLock("prices");
   * await using reading = await prices.reader.acquire();
   * ```
   *
   * With an {@link ReadWriteLockOptions.owner | owner}, whoever writes may read as well; when all that was acquired through the writer has been released,
   * the reader's hold is left. A reader's owner who asks for the writer is told `upgrade`.
   *
   * @throws ConfigError for a name or option that makes no sense (the layout `plain` has none of these), and on Redis; MisuseError if the client
   * has been closed.
   */
  readWriteLock(name: string, options?: ReadWriteLockOptions): ReadWriteLock {
    const side = (kind: "reader" | "writer") => new Lock(...this.#lock({ kind, name }, options));
    return new ReadWriteLock(side("reader"), side("writer"));
  }

  /**
   * ZooKeeper: an election. Sends nothing. Its candidates lead one after another, in the order in which they came.
   *
   * ```ts
   * await using term = await client.election("scheduler", { identifier: hostname() }).campaign();
   * await lead({ signal: term.signal });
   * ```
   *
   * @throws ConfigError for a name or option that makes no sense, and on Redis; MisuseError if the client has been closed.
   */
  election(name: string, options?: ElectionOptions): Election {
    return new Election(...this.#lock({ kind: "election", name }, options));
  }

  /**
   * ZooKeeper: a semaphore, which so many may hold at a time; all who use it have to give the same number. Sends nothing. The fence of a permit tells it
   * from others, and orders nothing.
   *
   * ```ts
   * await client.semaphore("presses", 3).using(print);
   * ```
   *
   * @throws ConfigError for a name, number or option that makes no sense (no permits, the layout `plain`), and on Redis; MisuseError if the client has
   * been closed.
   */
  semaphore(name: string, permits: number, options?: SemaphoreOptions): Lock {
    if (typeof permits !== "number") {
      throw unreadable("a semaphore needs a number of permits");
    }
    return new Lock(...this.#lock({ kind: "semaphore", name, permits }, options));
  }

  /**
   * ZooKeeper: many locks or none, at most 64. Sends nothing. A place in every line is taken in one transaction, so nobody can wait for somebody who waits for
   * it, whatever the order of the names; if one lock is lost, all are. The grant's fence is the one of all.
   *
   * ```ts
   * await using grant = await client.multiLock(["account/1", "account/2"]).acquire();
   * ```
   *
   * @throws ConfigError for names or options that make no sense (none at all, one of them twice), and on Redis; MisuseError if the client has been closed.
   */
  multiLock(names: readonly string[], options?: MultiLockOptions): Lock {
    if (!Array.isArray(names)) {
      throw unreadable("many locks need a list of names");
    }
    return new Lock(...this.#lock({ kind: "multi-lock", names }, options));
  }

  /**
   * Releases all grants, which are lost by it, gives up all waiting acquires, and waits at most 5 s for the server's answers. Another call waits for the
   * end of the first one, and succeeds: only the first one throws.
   *
   * @throws CleanupIncomplete with the count of what had to be left: the server has not answered for it, or has not let it go. It ends with its lease or
   * session.
   */
  close(): Promise<void> {
    return this.#engine.close();
  }

  /** See {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal For `console.log`. */
  [INSPECT](_depth: number, options: object, inspect?: (value: unknown, options: object) => string): string {
    return inspected("Client", { at: this.#at, closed: this.closed }, options, inspect);
  }

  /** What a lock is made of. An inspection has the same settings and its own. */
  #lock(what: SettingsData, options: unknown): LockParts {
    this.#engine.check();
    const { name, names } = what;
    if (names === undefined && typeof name !== "string") {
      throw unreadable("the name of a lock has to be a string");
    }
    const data = withOptions({ ...this.#place, ...what }, options);
    const inspect: Inspect = (action, meant) => {
      const { node, fence } = meant as Partial<ContenderData>;
      return new Settings(this.#module, { ...data, action, node, fence });
    };
    return [this.#engine, name ?? names?.join(", ") ?? "", new Settings(this.#module, data), inspect];
  }
}
