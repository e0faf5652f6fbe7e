/**
 * A name with checked settings.
 *
 * @module
 */

import { NotAcquired } from "../errors.js";
import type { Settings } from "../hub.js";
import { Contender } from "./contender.js";
import type { Engine } from "./engine.js";
import { Grant } from "./grant.js";
import { known, optionalMillis, optionalSignal } from "./options.js";

/** How to acquire. */
export interface AcquireOptions {
  /** How long to wait, in ms, connecting and everything else included; without it, for ever. */
  readonly timeout?: number | undefined;
  /** Withdraws the contender when it is aborted; the acquire then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

type Patience = number | null | "try";
type Contend<G> = (timeout: number | null, signal: AbortSignal | undefined) => Promise<G>;

/** A lock: a name with checked settings. It sends nothing and is cheap; share it freely. Each acquire is a contender of its own. */
export class Lock {
  /** The lock's name. */
  readonly name: string;
  readonly #engine: Engine;
  readonly #settings: Settings;

  /** @internal */
  constructor(engine: Engine, name: string, settings: Settings) {
    this.#engine = engine;
    this.name = name;
    this.#settings = settings;
  }

  /**
   * Waits until the lock is granted. With a `timeout` it gives null when somebody else held the lock all the time.
   *
   * @throws Refused when the lock cannot be had: no permission, wrong type, server unreachable within the timeout. ConfigError for a
   * timeout that is not positive: there is {@link tryAcquire}. The signal's reason, if it is aborted.
   */
  acquire(options: AcquireOptions & { readonly timeout: number }): Promise<Grant | null>;
  acquire(options?: AcquireOptions & { readonly timeout?: undefined }): Promise<Grant>;
  acquire(options?: AcquireOptions): Promise<Grant | null>;
  acquire(options?: AcquireOptions): Promise<Grant | null> {
    return this.#options(options, (timeout, signal) => this.#contend(timeout, signal, true));
  }

  /** The grant, or null when somebody else holds the lock. @throws as {@link acquire} does; Refused if the server does not answer within 5 s. */
  tryAcquire(): Promise<Grant | null> {
    return this.#contend("try", undefined, true);
  }

  /**
   * Runs `body` with a grant, and releases it: the scope form for programs without `await using`.
   *
   * @throws NotAcquired when the timeout has ended; LockLost when the grant was lost meanwhile, unless the body has thrown.
   */
  async using<T>(body: (grant: Grant) => T | Promise<T>, options?: AcquireOptions): Promise<T> {
    const grant = await this.#options(options, (timeout, signal) => this.#contend(timeout, signal, false));
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

  #options<G>(options: AcquireOptions | undefined, contend: Contend<G>): Promise<G> {
    return options === undefined ? contend(null, undefined) : this.#checked(options, contend);
  }

  async #checked<G>(options: AcquireOptions, contend: Contend<G>): Promise<G> {
    known(options, "timeout", "signal");
    const timeout = optionalMillis("timeout", options.timeout);
    const signal = optionalSignal(options.signal);
    signal?.throwIfAborted();
    return contend(timeout, signal);
  }

  #contend(patience: Patience, signal: AbortSignal | undefined, orNull: true): Promise<Grant | null>;
  #contend(patience: Patience, signal: AbortSignal | undefined, orNull: false): Promise<Grant>;
  #contend(patience: Patience, signal: AbortSignal | undefined, orNull: boolean): Promise<Grant | null> {
    const engine = this.#engine;
    const contender = new Contender(this.name);
    return new Promise((resolve, reject: (error: unknown) => void) => {
      const abort = () => {
        contender.acquiring = null;
        contender.state = "closed";
        engine.abandon(contender.key);
        settled();
        reject(signal?.reason);
      };
      const settled = () => {
        engine.keepAlive.drop();
        signal?.removeEventListener("abort", abort);
      };
      engine.keepAlive.hold();
      signal?.addEventListener("abort", abort);
      contender.acquiring = {
        resolve: () => {
          settled();
          resolve(new Grant(engine, contender));
        },
        reject: (error) => {
          settled();
          if (orNull && error instanceof NotAcquired) {
            resolve(null);
          } else {
            reject(error);
          }
        },
      };
      try {
        engine.acquire(contender, this.#settings, patience);
      } catch (error) {
        contender.acquiring.reject(error);
      }
    });
  }
}
