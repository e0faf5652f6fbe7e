/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Locks on one connection.
 *
 * @module
 */

import { type Driver, MEMORY } from "../engine/driver.js";
import { Engine } from "../engine/engine.js";
import { unreadable } from "../errors.js";
import type { Module } from "../hub/families/module.js";
import { type Family, Settings } from "../hub/hub.js";
import type {
  ElectionOptions,
  IdempotencyOptions,
  LockOptions,
  MultiLockOptions,
  ReadWriteLockOptions,
  SemaphoreOptions,
} from "../hub/lock-options.js";
import type { ContenderData } from "../hub/outputs.js";
import { Scope } from "../hub/scope.js";
import type { SettingsData } from "../hub/settings.js";
import { INSPECT, inspected } from "./console.js";
import { Idempotency } from "./idempotency.js";
import { Election, ReadWriteLock } from "./kinds.js";
import { type Inspect, Lock } from "./lock.js";
import { withOptions } from "./options.js";

type LockParts = ConstructorParameters<typeof Lock>;

interface Reach {
  readonly prefix?: string | undefined;
  readonly connectTimeout?: number | undefined;
}

/**
 * Locks on one connection. {@link connect}, {@link fromRedis} and {@link fromZooKeeper} return one.
 *
 * A client keeps the process alive only while one of its calls is pending. The body of {@link Lock.using} and the
 * function of {@link Idempotency.once} are parts of their calls. Close the client, or bind it with `await using`.
 */
export class Client {
  readonly #engine: Engine;
  readonly #module: Module;
  readonly #at: string;
  readonly #server: Family | "memory";
  /** The settings that all locks share. `action`, `node` and `fence` are only for inspections. */
  readonly #place: Pick<SettingsData, "server" | "prefix" | "action" | "node" | "fence">;

  /** @internal */
  constructor(driver: Driver, { prefix, connectTimeout }: Reach = {}) {
    this.#module = driver.module;
    this.#at = driver.at;
    this.#server = driver.at === MEMORY ? "memory" : driver.family;
    this.#place = { server: this.#server, prefix, action: undefined, node: undefined, fence: undefined };
    this.#engine = new Engine(driver, connectTimeout);
  }

  /** Whether the client has been closed. */
  get closed(): boolean {
    return this.#engine.closed;
  }

  /**
   * A lock. Sends nothing.
   *
   * An `owner`, such as `"request-17"`, makes the lock re-entrant. While an owner holds the lock, each further acquire
   * of the same name and kind on this client returns another grant with the same fence, and sends nothing. The client
   * releases the lock when the owner has released its last grant. The settings and the lease are those of the first
   * acquire. Without an owner, each acquire is a new contender.
   *
   * With `fair: false` the lock is a single node on ZooKeeper, and has no queue. It is the cheapest lock to
   * try. Each release wakes all waiters, and any one of them gets the lock. It has no layout and is not
   * revocable.
   *
   * @throws ConfigError for a name or an option that is not valid; MisuseError if the client has been closed.
   */
  lock(name: string, options?: LockOptions): Lock {
    return new Lock(...this.#lock({ kind: "lock", name }, options));
  }

  /**
   * ZooKeeper: a lock that readers share and that a writer has alone. Sends nothing.
   *
   * ```ts
   * const prices = client.readWriteLock("prices");
   * await using reading = await prices.reader.acquire();
   * ```
   *
   * An {@link ReadWriteLockOptions.owner | owner} that holds the writer may acquire the reader, too. It
   * becomes a reader when it has released its grants of the writer. An owner that holds the reader and
   * acquires the writer gets a MisuseError (`upgrade`).
   *
   * @throws ConfigError for a name or an option that is not valid (the layout `plain` has no such locks), and
   * on Redis; MisuseError if the client has been closed.
   */
  readWriteLock(name: string, options?: ReadWriteLockOptions): ReadWriteLock {
    const side = (kind: "reader" | "writer") => new Lock(...this.#lock({ kind, name }, options));
    return new ReadWriteLock(side("reader"), side("writer"));
  }

  /**
   * ZooKeeper: an election. Sends nothing. Candidates lead one after another, in the order in which they
   * came.
   *
   * ```ts
   * await using term = await client.election("scheduler", { identifier: hostname() }).campaign();
   * await lead({ signal: term.signal });
   * ```
   *
   * @throws ConfigError for a name or an option that is not valid, and on Redis; MisuseError if the client
   * has been closed.
   */
  election(name: string, options?: ElectionOptions): Election {
    return new Election(...this.#lock({ kind: "election", name }, options));
  }

  /**
   * ZooKeeper: a semaphore. At most `permits` contenders hold it at a time, and all of them have to use the same
   * number. Sends nothing. The fence of a permit identifies it, and does not order permits.
   *
   * ```ts
   * await client.semaphore("presses", 3).using(print);
   * ```
   *
   * @throws ConfigError for a name, a number or an option that is not valid (zero permits, the layout
   * `plain`), and on Redis; MisuseError if the client has been closed.
   */
  semaphore(name: string, permits: number, options?: SemaphoreOptions): Lock {
    if (typeof permits !== "number") {
      throw unreadable("a semaphore needs a number of permits");
    }
    return new Lock(...this.#lock({ kind: "semaphore", name, permits }, options));
  }

  /**
   * ZooKeeper: several locks, at most 64: the client gets all of them or none. Sends nothing. The client enters all
   * queues in one transaction, so multi-locks do not deadlock each other, in any order of the names. If one lock is
   * lost, all are. All locks of a grant have the same fence.
   *
   * ```ts
   * await using grant = await client.multiLock(["account/1", "account/2"]).acquire();
   * ```
   *
   * @throws ConfigError for names or options that are not valid (no names, a name twice), and on Redis;
   * MisuseError if the client has been closed.
   */
  multiLock(names: readonly string[], options?: MultiLockOptions): Lock {
    if (!Array.isArray(names)) {
      throw unreadable("a multi-lock needs a list of names");
    }
    return new Lock(...this.#lock({ kind: "multi-lock", names }, options));
  }

  /**
   * Idempotent operations. Sends nothing. Each operation has a key, and its result is stored once: a client that claims
   * the key again gets that result, until the `retention` is over. `scope` is the namespace of the keys: it names the
   * operation, and the tenant.
   *
   * ```ts
   * const payments = client.idempotency("payments", { lease: 30_000, onLeaseEnd: "block" });
   * const pay = payments.once(charge, { key: (order) => order.id });
   * await pay(order);
   * ```
   *
   * @throws ConfigError for a scope or an option that is not valid; MisuseError if the client has been closed.
   */
  idempotency(scope: string, options?: IdempotencyOptions): Idempotency {
    this.#engine.check();
    const { prefix } = this.#place;
    const data = withOptions({ server: this.#server, kind: "claim", scope, prefix } as const, options);
    return new Idempotency(this.#engine, scope, new Scope(this.#module, data));
  }

  /**
   * Ends all grants as lost and releases them, leaves all claims, cancels all acquires, and waits at most 5 s for the
   * server's replies. Other calls wait for the first one and succeed: only the first one throws.
   *
   * @throws CleanupIncomplete with the number of contenders whose end the server has not confirmed, or has
   * refused. They end with their leases or the session.
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

  /** The arguments of a lock's constructor. An inspection adds its own settings to those of the lock. */
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
