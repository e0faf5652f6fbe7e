/**
 * The program's calls on its grants and claims.
 *
 * @module
 */

import type { Contender, Waiter } from "../engine/contender.js";
import type { Engine } from "../engine/engine.js";
import type { KeepAlive } from "../engine/timers.js";
import { MisuseError } from "../errors.js";

/** A pending call of the program. */
class Call implements Waiter {
  readonly #keepAlive: KeepAlive;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;

  constructor(keepAlive: KeepAlive, resolve: () => void, reject: (error: unknown) => void) {
    this.#keepAlive = keepAlive;
    this.#resolve = resolve;
    this.#reject = reject;
    keepAlive.hold();
  }

  resolve(): void {
    this.#keepAlive.drop();
    this.#resolve();
  }

  reject(error: unknown): void {
    this.#keepAlive.drop();
    this.#reject(error);
  }
}

/** Begins a call that the application waits for. */
export function waiting(engine: Engine, begin: (waiter: Waiter) => void): Promise<void> {
  return new Promise((resolve, reject: (error: unknown) => void) => {
    const waiter = new Call(engine.keepAlive, resolve, reject);
    try {
      begin(waiter);
    } catch (error) {
      waiter.reject(error);
    }
  });
}

/** Renews what is held. */
export function extended(engine: Engine, contender: Contender): Promise<void> {
  return waiting(engine, (waiter) => {
    if (contender.state !== "held") {
      throw contender.refusal();
    }
    // In memory the answer comes at once.
    contender.extending = [...contender.extending, waiter];
    try {
      engine.extend(contender);
    } catch (error) {
      contender.extending = contender.extending.filter((other) => other !== waiter);
      throw error;
    }
  });
}

/** Ends what is held; a claim also after its loss. */
export function ended(engine: Engine, contender: Contender, end: () => void): Promise<void> {
  return waiting(engine, (waiter) => {
    if (contender.state !== "held" && !contender.lapsed) {
      throw contender.refusal();
    }
    contender.releasing = waiter;
    try {
      end();
    } catch (error) {
      contender.releasing = null;
      // A claim that has been ended for good: the server has said why.
      throw contender.lapsed && error instanceof MisuseError ? contender.refusal() : error;
    }
    engine.finalizers.unwatch(contender);
  });
}
