/**
 * Grants that the program has dropped. When the garbage collector has found one, the client releases its lock.
 *
 * @module
 */

import type { Contender } from "./contender.js";

/**
 * How many grants wait for registration at most. Otherwise they would accumulate in a program whose promise queue is
 * never empty.
 */
const MOST = 64;

interface Registry {
  register(grant: object, contender: Contender, token: Contender): void;
  unregister(contender: Contender): void;
}

/**
 * Some runtimes have no finalizers (workerd with a compatibility date before 2025-05-05). There, a dropped grant is
 * held until its client is closed.
 */
const NONE: Registry = { register: () => undefined, unregister: () => undefined };

const { FinalizationRegistry: Finalization } = globalThis as { FinalizationRegistry?: FinalizationRegistryConstructor };

/** Finds grants that the program does not refer to any more. */
export class Finalizers {
  readonly #finalizers: Registry;
  /** Contenders whose grants are not registered yet. Most of them are released before the registration. */
  #fresh: Contender[] = [];
  /** Contenders whose grants are garbage. */
  #dropped: Contender[] = [];

  readonly #work: () => void;

  /** `work` is called when there is something to {@link register}, or in {@link takeDropped}. */
  constructor(work: () => void) {
    this.#work = work;
    const drop = (contender: Contender) => {
      this.#dropped.push(contender);
      work();
    };
    this.#finalizers = Finalization === undefined ? NONE : new Finalization(drop);
  }

  /** Registers a contender, to be dropped when `grant` is garbage. */
  watch(grant: object, contender: Contender): void {
    contender.fresh = grant;
    this.#fresh.push(contender);
    this.#work();
    if (this.#fresh.length >= MOST) {
      this.register();
    }
  }

  unwatch(contender: Contender): void {
    if (contender.fresh === null) {
      this.#finalizers.unregister(contender);
    }
    contender.fresh = null;
  }

  /** Registers the grants that are not registered yet. */
  register(): void {
    for (const contender of this.#fresh) {
      if (contender.fresh !== null) {
        this.#finalizers.register(contender.fresh, contender, contender);
        contender.fresh = null;
      }
    }
    this.#fresh = [];
  }

  takeDropped(): Contender[] {
    const dropped = this.#dropped;
    this.#dropped = [];
    return dropped;
  }
}
