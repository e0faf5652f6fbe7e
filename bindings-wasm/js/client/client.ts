/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Locks on one connection.
 *
 * @module
 */

import { type Driver, MEMORY } from "../drivers/driver.js";
import { ConfigError, unreadable } from "../errors.js";
import type { Module } from "../families/module.js";
import { Settings } from "../hub.js";
import type { ContenderData } from "../outputs.js";
import type { SettingsData } from "../settings.js";
import { INSPECT, inspected } from "../shown.js";
import { Engine } from "./engine.js";
import { type Inspect, Lock } from "./lock.js";
import { type LockOptions, type ReadWriteLockOptions, type ZooKeeperLockOptions, lockOptions } from "./options.js";
import { Election, ReadWriteLock } from "./recipes.js";

type Kind = SettingsData["kind"];
type Role = "mutex" | "single" | "reader" | "writer" | "election" | "semaphore";
type LockParts = ConstructorParameters<typeof Lock>;
type Inspected = "mutex" | "single" | "read-write" | "election" | "semaphore";

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
  readonly #family: "zookeeper" | "redis";
  readonly #prefix: string;
  readonly #at: string;
  readonly #inMemory: boolean;

  /** @internal */
  constructor(driver: Driver, { prefix = "", connectTimeout }: Reach = {}) {
    this.#family = driver.family;
    this.#module = driver.module;
    this.#at = driver.at;
    this.#prefix = prefix;
    this.#inMemory = driver.at === MEMORY;
    this.#engine = new Engine(driver, connectTimeout);
  }

  /** Whether the client has been closed. */
  get closed(): boolean {
    return this.#engine.closed;
  }

  /**
   * A lock. Sends nothing.
   *
   * @throws ConfigError for a name or option that makes no sense; MisuseError if the client has been closed.
   */
  lock(name: string, options?: LockOptions): Lock {
    if (this.#family === "redis") {
      const settings = this.#settings("redis-string", { name }, options, "owner");
      return new Lock(this.#engine, name, settings, () => elsewhere("contenders", ON_REDIS));
    }
    const { fair } = options ?? {};
    if (this.#inMemory) {
      options = this.#withoutLease(name, options);
    }
    if (fair !== undefined && typeof fair !== "boolean") {
      throw unreadable("fair has to be true or false");
    }
    const kind = fair === false ? "single" : "mutex";
    return new Lock(...this.#contender(kind, kind, name, options));
  }

  /**
   * ZooKeeper: a lock that readers share and a writer has alone. Sends nothing.
   *
   * ```ts
   * const prices = client.readWriteLock("prices");
   * await using reading = await prices.reader.acquire();
   * ```
   *
   * With an {@link Owner.owner}, whoever writes may read as well; when all that was acquired through the writer has been released, the reader's hold is left.
   *
   * @throws ConfigError for a name or option that makes no sense (the layout `plain` has none of these), and on Redis; MisuseError if the client
   * has been closed.
   */
  readWriteLock(name: string, options?: ReadWriteLockOptions): ReadWriteLock {
    this.#only("readWriteLock");
    const side = (role: "reader" | "writer") => new Lock(...this.#contender(role, "read-write", name, options));
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
  election(name: string, options?: ZooKeeperLockOptions): Election {
    this.#only("election");
    return new Election(...this.#contender("election", "election", name, options));
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
  semaphore(name: string, permits: number, options?: ZooKeeperLockOptions): Lock {
    this.#only("semaphore");
    if (typeof permits !== "number") {
      throw unreadable("a semaphore needs a number of permits");
    }
    return new Lock(...this.#contender("semaphore", "semaphore", name, options, { permits }));
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
  multiLock(names: readonly string[], options?: ZooKeeperLockOptions): Lock {
    this.#only("multiLock");
    if (!Array.isArray(names)) {
      throw unreadable("many locks need a list of names");
    }
    const settings = this.#settings("zookeeper-multi-lock", { names }, options);
    const inspect = () => elsewhere("contenders", "each of many locks is looked at by its own name");
    return new Lock(this.#engine, names.join(", "), settings, inspect);
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

  #only(what: string): void {
    if (this.#family !== "zookeeper") {
      elsewhere(what, ON_REDIS);
    }
  }

  /**
   * `memory:` stands for either kind of server, so it takes the options of a lock on Redis, too, and checks them as Redis would. They have no effect: what is
   * granted there lives as long as its client.
   */
  #withoutLease(name: string, options: LockOptions | undefined): LockOptions | undefined {
    const { ttl, renew, margin, poll, ...others } = options ?? {};
    const lease = { ttl, renew, margin, poll };
    if (Object.values(lease).every((value) => value === undefined)) {
      return options;
    }
    const { maxHold, answerWithin } = others;
    new Settings(this.#module, { kind: "redis-string", name, ...lease, maxHold, answerWithin });
    return others;
  }

  /** What a lock on ZooKeeper is made of. */
  #contender(role: Role, of: Inspected, name: string, options: unknown, more?: object): LockParts {
    const settings = this.#settings(`zookeeper-${role}`, { name, ...more }, options, ...OF_ROLE[role]);
    const { layout, nodePrefix, answerWithin } = (options ?? {}) as ReadWriteLockOptions;
    const place = {
      kind: "zookeeper-inspection",
      name,
      prefix: this.#prefix,
      layout,
      nodePrefix,
      answerWithin,
    } as const;
    const inspect: Inspect = (action, meant) => {
      const { node, fence } = meant as Partial<ContenderData>;
      return new Settings(this.#module, { ...place, of, action, node, fence, ...more });
    };
    return [this.#engine, name, settings, inspect];
  }

  /** `ofKind`: options that this kind of lock has beside. */
  #settings(
    kind: Kind,
    what: { name?: string; names?: readonly string[] },
    options: unknown,
    ...ofKind: string[]
  ): Settings {
    this.#engine.check();
    if ("name" in what && typeof what.name !== "string") {
      throw unreadable("the name of a lock has to be a string");
    }
    const place = this.#family === "zookeeper" ? { prefix: this.#prefix } : {};
    const given = lockOptions(this.#family, options, ...ofKind);
    delete given["fair"]; // It is the kind.
    return new Settings(this.#module, { kind, ...place, ...given, ...what } as SettingsData);
  }
}

/** The options that some kinds of locks have beside. */
const OF_ROLE: Readonly<Record<Role, readonly string[]>> = {
  mutex: ["owner", "fair"],
  single: ["owner", "fair"],
  reader: ["owner"],
  writer: ["owner"],
  election: [],
  semaphore: [],
};

const ON_REDIS = "only ZooKeeper has it; on Redis there are locks";

function elsewhere(what: string, there: string): never {
  throw new ConfigError(108, "unknown-option", `unknown option "${what}": ${there}`);
}
