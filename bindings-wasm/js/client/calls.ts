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

/** Renews a grant or a claim. */
export function extended(engine: Engine, contender: Contender): Promise<void> {
  return waiting(engine, (waiter) => {
    if (contender.state !== "held") {
      throw contender.refusal();
    }
    // On `memory:` the reply arrives during the call.
    contender.extending = [...contender.extending, waiter];
    try {
      engine.extend(contender);
    } catch (error) {
      contender.extending = contender.extending.filter((other) => other !== waiter);
      throw error;
    }
  });
}

/** Ends a grant or a claim. A claim can also be ended after its loss. */
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
      // A lost claim that can no longer be ended: the caller gets the reason of the loss.
      throw contender.lapsed && error instanceof MisuseError ? contender.refusal() : error;
    }
    engine.finalizers.unwatch(contender);
  });
}
