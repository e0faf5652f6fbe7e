/**
 * Carries out an acquire or a claim of the program, up to the result of its contender.
 *
 * @module
 */

import type { Contender, Waiter } from "../engine/contender.js";
import type { Engine } from "../engine/engine.js";
import type { AcquireTimeout } from "../engine/machines.js";
import { NotAcquired } from "../errors.js";
import type { Settings } from "../hub/hub.js";
import { onAbort, reasonOf } from "./aborts.js";
import type { Signal } from "./signal.js";

/** The program's call that waits for an acquire or a claim. */
class Contending<T> implements Waiter {
  readonly #engine: Engine;
  readonly #contender: Contender;
  readonly #finish: (contender: Contender, engine: Engine) => T;
  readonly #instead: T | undefined;
  readonly #resolve: (result: T) => void;
  readonly #reject: (error: unknown) => void;
  #unwatch: (() => void) | null = null;

  constructor(
    engine: Engine,
    contender: Contender,
    finish: (contender: Contender, engine: Engine) => T,
    instead: T | undefined,
    resolve: (result: T) => void,
    reject: (error: unknown) => void,
  ) {
    this.#engine = engine;
    this.#contender = contender;
    this.#finish = finish;
    this.#instead = instead;
    this.#resolve = resolve;
    this.#reject = reject;
    engine.keepAlive.hold();
  }

  /** The signal cancels the call. */
  watch(signal: Signal): void {
    this.#unwatch = onAbort(signal, () => {
      const [engine, contender] = [this.#engine, this.#contender];
      contender.acquiring = null;
      contender.state = "closed";
      engine.abandon(contender);
      engine.keepAlive.drop();
      this.#reject(reasonOf(signal));
    });
  }

  resolve(): void {
    this.#end();
    this.#resolve(this.#finish(this.#contender, this.#engine));
  }

  reject(error: unknown): void {
    this.#end();
    if (this.#instead !== undefined && error instanceof NotAcquired) {
      this.#resolve(this.#instead);
    } else {
      this.#reject(error);
    }
  }

  #end(): void {
    this.#engine.keepAlive.drop();
    this.#unwatch?.();
  }
}

/** Has a contender acquire. `instead`: what it returns when another client has the lock; undefined: an error. */
export function contend<T>(
  engine: Engine,
  contender: Contender,
  settings: Settings,
  acquireTimeout: AcquireTimeout,
  signal: Signal | undefined,
  finish: (contender: Contender, engine: Engine) => T,
  instead?: T,
): Promise<T> {
  return new Promise((resolve, reject: (error: unknown) => void) => {
    const call = new Contending(engine, contender, finish, instead, resolve, reject);
    if (signal !== undefined) {
      call.watch(signal);
    }
    contender.acquiring = call;
    try {
      engine.acquire(contender, settings, acquireTimeout);
    } catch (error) {
      call.reject(error);
    }
  });
}
