/**
 * A name with checked settings.
 *
 * @module
 */

import { Contender } from "../engine/contender.js";
import type { Engine } from "../engine/engine.js";
import type { AcquireTimeout } from "../engine/machines.js";
import { unreadable } from "../errors.js";
import type { Settings } from "../hub/hub.js";
import type { ContenderData } from "../hub/outputs.js";
import { checkAborted } from "./aborts.js";
import { contend } from "./contend.js";
import { Grant } from "./grant.js";
import { known, optionalMillis, optionalSignal } from "./options.js";
import type { Signal } from "./signal.js";

/** Options of an acquire. */
export interface AcquireOptions {
  /** The acquire timeout in ms. It covers everything, connecting included. Without it, the acquire waits for ever. */
  readonly timeout?: number | undefined;
  /** Cancels the acquire when it is aborted. The acquire then rejects with the signal's reason. */
  readonly signal?: Signal | undefined;
}

type Contend<G> = (timeout: number | null, signal: Signal | undefined) => Promise<G>;

/** Makes the settings of an inspection. Throws a ConfigError if the lock has no such inspection. */
export type Inspect = (action: "list" | "break" | "revoke", meant: object) => Settings;

/**
 * A name with checked settings. It is cheap, sends nothing, and may be shared. Each acquire is a new
 * contender, unless the lock has an {@link LockOptions.owner}.
 */
export class Lock {
  /** The lock's name. */
  readonly name: string;
  readonly #engine: Engine;
  readonly #settings: Settings;
  readonly #inspect: Inspect;

  /** @internal */
  constructor(engine: Engine, name: string, settings: Settings, inspect: Inspect) {
    this.#engine = engine;
    this.name = name;
    this.#settings = settings;
    this.#inspect = inspect;
  }

  /**
   * Waits until the client has the lock. With a `timeout` it returns null if other contenders held the lock
   * all the time.
   *
   * @throws Refused if the client cannot get the lock: no permission, a key of another type, no server within the
   * timeout. ConfigError for a timeout that is not positive: use {@link tryAcquire}. The signal's reason, if the signal
   * is aborted. LockLost if the grant ended before this call could return it: rare, and safe to try again. MisuseError
   * `busy` while another acquire of the same owner waits, `upgrade` if an owner that holds the reader acquires the
   * writer.
   */
  acquire(options: AcquireOptions & { readonly timeout: number }): Promise<Grant | null>;
  acquire(options?: AcquireOptions & { readonly timeout?: undefined }): Promise<Grant>;
  acquire(options?: AcquireOptions): Promise<Grant | null>;
  acquire(options?: AcquireOptions): Promise<Grant | null> {
    return options === undefined
      ? this.#grant(null, undefined, true)
      : this.#checked(options, (timeout, signal) => this.#grant(timeout, signal, true));
  }

  /**
   * Returns a grant, or null if another contender holds the lock.
   *
   * @throws as {@link acquire} does; Refused if the server does not reply within 5 s.
   */
  async tryAcquire(...none: never[]): Promise<Grant | null> {
    // A try has no timeout and no signal. It rejects such options, so that a mistake does not stay hidden.
    known(none[0], ...[]);
    return this.#grant("try", undefined, true);
  }

  /**
   * Runs `body` with a grant, and releases the grant afterwards: a scope for programs without `await using`.
   *
   * @throws NotAcquired after the timeout; LockLost if the grant was lost in the meantime, unless the body threw;
   * ConfigError without a function.
   */
  async using<T>(body: (grant: Grant) => T | Promise<T>, options?: AcquireOptions): Promise<T> {
    if (typeof body !== "function") {
      throw unreadable("give using() a function of the grant");
    }
    const grant = await this.#checked(options ?? {}, (timeout, signal) => this.#grant(timeout, signal, false));
    let result: T;
    try {
      result = await this.#engine.keepAlive.during(() => body(grant));
    } catch (error) {
      await grant[Symbol.asyncDispose]().catch(() => undefined);
      throw error;
    }
    await grant[Symbol.asyncDispose]();
    return result;
  }

  /**
   * Returns the holders of the lock and its waiters, the oldest first. Redis stores no waiters, so there it returns the
   * holder. The list is for people and tools. It may be out of date when you read it.
   *
   * @throws Refused if the server denies access or does not reply within 5 s; ConfigError for a multi-lock.
   */
  async contenders(): Promise<ContenderData[]> {
    const found = await this.#inspected("list", {});
    return [...found].sort((one, other) => (one.fence < other.fence ? -1 : 1));
  }

  /**
   * ZooKeeper: requests the lock from a contender, as Curator's `Revoker` does. The contender gets the
   * request through {@link Grant.revokeRequested}, and may release the lock or keep it.
   *
   * @throws ConfigError for a contender that {@link contenders} has not returned, and on Redis; Refused
   * (`no-contender`) if the contender is gone.
   */
  async revoke(contender: ContenderData): Promise<void> {
    await this.#inspected("revoke", contender);
  }

  /**
   * Removes a contender. A holder loses its lock, and may notice this only after another contender got it: only fences
   * prevent damage then. A waiter loses its place in the queue.
   *
   * @throws ConfigError for a contender that {@link contenders} has not returned; Refused (`no-contender`) if the
   * contender is gone.
   */
  async breakContender(contender: ContenderData): Promise<void> {
    await this.#inspected("break", contender);
  }

  #inspected(action: "list" | "break" | "revoke", meant: object): Promise<readonly ContenderData[]> {
    if (typeof meant !== "object" || (meant as object | null) === null) {
      throw unreadable("give a contender that contenders() returned");
    }
    const contender = new Contender(this.name);
    return contend(this.#engine, contender, this.#inspect(action, meant), "try", undefined, ({ found }) => found);
  }

  async #checked<G>(options: AcquireOptions, contend: Contend<G>): Promise<G> {
    known(options, "timeout", "signal");
    const timeout = optionalMillis("timeout", options.timeout);
    const signal = optionalSignal(options.signal);
    checkAborted(signal);
    return contend(timeout, signal);
  }

  #grant(acquireTimeout: AcquireTimeout, signal: Signal | undefined, orNull: true): Promise<Grant | null>;
  #grant(acquireTimeout: AcquireTimeout, signal: Signal | undefined, orNull: false): Promise<Grant>;
  #grant(acquireTimeout: AcquireTimeout, signal: Signal | undefined, orNull: boolean): Promise<Grant | null> {
    const contender = new Contender(this.name);
    return contend<Grant | null>(
      this.#engine,
      contender,
      this.#settings,
      acquireTimeout,
      signal,
      granted,
      orNull ? null : undefined,
    );
  }
}

function granted(contender: Contender, engine: Engine): Grant {
  return new Grant(engine, contender);
}
