/**
 * Grants that the program has dropped: their locks are released when the garbage collector has found them.
 *
 * @module
 */

import type { Contender } from "./contender.js";

/** So many may wait for the finalizers: a program whose promises never rest is not to collect them. */
const MOST = 64;

interface Registry {
  register(grant: object, contender: Contender, token: Contender): void;
  unregister(contender: Contender): void;
}

/** Where the runtime does not say what is garbage (workerd before its date 2025-05-05), a lock that is dropped is held until its client is closed. */
const NONE: Registry = { register: () => undefined, unregister: () => undefined };

const { FinalizationRegistry: Finalization } = globalThis as { FinalizationRegistry?: FinalizationRegistryConstructor };

/** Knows which grants are still referred to. */
export class Finalizers {
  readonly #finalizers: Registry;
  /** Those with grants that the finalizers do not know yet: most are released before they have to. */
  #fresh: Contender[] = [];
  /** Holds whose grant objects are garbage. */
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

  /** Has a contender dropped when `grant` is garbage. */
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

  /** Tells the finalizers of the grants that they do not know yet. */
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
