/**
 * A name with checked settings.
 *
 * @module
 */

import { NotAcquired, unreadable } from "../errors.js";
import type { Settings } from "../hub.js";
import type { ContenderData } from "../outputs.js";
import type { Signal } from "../signal.js";
import { onAbort } from "./aborts.js";
import { Contender } from "./contender.js";
import type { Engine } from "./engine.js";
import { Grant } from "./grant.js";
import type { Patience } from "./machines.js";
import { known, optionalMillis, optionalSignal } from "./options.js";

/** How to acquire. */
export interface AcquireOptions {
  /** How long to wait, in ms, connecting and everything else included; without it, for ever. */
  readonly timeout?: number | undefined;
  /** Withdraws the contender when it is aborted; the acquire then rejects with the signal's reason. */
  readonly signal?: Signal | undefined;
}

type Contend<G> = (timeout: number | null, signal: Signal | undefined) => Promise<G>;

/** Makes the settings of an inspection, or throws a ConfigError where there are none. */
export type Inspect = (action: "list" | "break" | "revoke", meant: object) => Settings;

/**
 * A lock: a name with checked settings. It sends nothing and is cheap; share it freely. Each acquire is a contender of its own, unless the lock has an
 * {@link LockOptions.owner}, who may acquire again what it holds.
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
   * Waits until the lock is granted. With a `timeout` it gives null when somebody else held the lock all the time.
   *
   * @throws Refused when the lock cannot be had: no permission, wrong type, server unreachable within the timeout. ConfigError for a
   * timeout that is not positive: there is {@link tryAcquire}. The signal's reason, if it is aborted. LockLost when the lock was granted, and the grant was
   * over before it was heard of: rare, and safe to try again. MisuseError `busy` when the lock's owner is acquiring it already, `upgrade` when a
   * reader's owner asks for the writer.
   */
  acquire(options: AcquireOptions & { readonly timeout: number }): Promise<Grant | null>;
  acquire(options?: AcquireOptions & { readonly timeout?: undefined }): Promise<Grant>;
  acquire(options?: AcquireOptions): Promise<Grant | null>;
  acquire(options?: AcquireOptions): Promise<Grant | null> {
    return options === undefined
      ? this.#grant(null, undefined, true)
      : this.#checked(options, (timeout, signal) => this.#grant(timeout, signal, true));
  }

  /** The grant, or null when somebody else holds the lock. @throws as {@link acquire} does; Refused if the server does not answer within 5 s. */
  async tryAcquire(...none: never[]): Promise<Grant | null> {
    // An option that is ignored is a silent default: a try has no timeout, and nothing to abort.
    known(none[0], ...[]);
    return this.#grant("try", undefined, true);
  }

  /**
   * Runs `body` with a grant, and releases it: the scope form for programs without `await using`.
   *
   * @throws NotAcquired when the timeout has ended; LockLost when the grant was lost meanwhile, unless the body has thrown.
   */
  async using<T>(body: (grant: Grant) => T | Promise<T>, options?: AcquireOptions): Promise<T> {
    const grant = await this.#checked(options ?? {}, (timeout, signal) => this.#grant(timeout, signal, false));
    let result: T;
    try {
      result = await body(grant);
    } catch (error) {
      await grant[Symbol.asyncDispose]().catch(() => undefined);
      throw error;
    }
    await grant[Symbol.asyncDispose]();
    return result;
  }

  /**
   * ZooKeeper: who holds the lock and who waits, oldest first: for people and tools. It was so at some moment, and is no ground to act on the lock's behalf.
   *
   * @throws ConfigError on Redis; Refused when the server does not let us look, or does not answer within 5 s.
   */
  async contenders(): Promise<ContenderData[]> {
    const found = await this.#inspected("list", {});
    return [...found].sort((one, other) => (one.fence < other.fence ? -1 : 1));
  }

  /**
   * ZooKeeper: asks a contender for the lock. It is told by {@link Grant.revokeRequested}, as Curator's are by their listeners, and may give the lock
   * back or keep it.
   *
   * @throws ConfigError for what {@link contenders} has not given, and on Redis; Refused (`no-contender`) if it is not there any more.
   */
  async revoke(contender: ContenderData): Promise<void> {
    await this.#inspected("revoke", contender);
  }

  /**
   * ZooKeeper: deletes a contender's node. A holder has lost its lock then, and hears of it later than others may get it: only fences keep it from
   * harm. A waiter has lost its place.
   *
   * @throws as {@link revoke} does.
   */
  async breakContender(contender: ContenderData): Promise<void> {
    await this.#inspected("break", contender);
  }

  #inspected(action: "list" | "break" | "revoke", meant: object): Promise<readonly ContenderData[]> {
    if (typeof meant !== "object" || (meant as object | null) === null) {
      throw unreadable("give a contender that contenders() has given");
    }
    return this.#contend(this.#inspect(action, meant), "try", undefined, ({ found }) => found);
  }

  async #checked<G>(options: AcquireOptions, contend: Contend<G>): Promise<G> {
    known(options, "timeout", "signal");
    const timeout = optionalMillis("timeout", options.timeout);
    const signal = optionalSignal(options.signal);
    signal?.throwIfAborted();
    return contend(timeout, signal);
  }

  #grant(patience: Patience, signal: Signal | undefined, orNull: true): Promise<Grant | null>;
  #grant(patience: Patience, signal: Signal | undefined, orNull: false): Promise<Grant>;
  #grant(patience: Patience, signal: Signal | undefined, orNull: boolean): Promise<Grant | null> {
    return this.#contend<Grant | null>(this.#settings, patience, signal, granted, orNull ? null : undefined);
  }

  /** `instead`: what it gives when somebody else has the lock; undefined: an error. */
  #contend<T>(
    settings: Settings,
    patience: Patience,
    signal: Signal | undefined,
    finish: (contender: Contender, engine: Engine) => T,
    instead?: T,
  ): Promise<T> {
    const engine = this.#engine;
    const contender = new Contender(this.name);
    return new Promise((resolve, reject: (error: unknown) => void) => {
      const { keepAlive } = engine;
      keepAlive.hold();
      const unwatch =
        signal === undefined
          ? null
          : onAbort(signal, () => {
              contender.acquiring = null;
              contender.state = "closed";
              engine.abandon(contender);
              keepAlive.drop();
              reject(signal.reason);
            });
      contender.acquiring = {
        resolve: () => {
          keepAlive.drop();
          unwatch?.();
          resolve(finish(contender, engine));
        },
        reject: (error) => {
          keepAlive.drop();
          unwatch?.();
          if (instead !== undefined && error instanceof NotAcquired) {
            resolve(instead);
          } else {
            reject(error);
          }
        },
      };
      try {
        engine.acquire(contender, settings, patience);
      } catch (error) {
        contender.acquiring.reject(error);
      }
    });
  }
}

function granted(contender: Contender, engine: Engine): Grant {
  return new Grant(engine, contender);
}
