/**
 * Waits until a closing client has nothing in flight.
 *
 * @module
 */

import { deadline } from "./timers.js";

/** At most one call waits for it. */
export class Idle {
  #resolve: (() => void) | null = null;

  get awaited(): boolean {
    return this.#resolve !== null;
  }

  /** Resolves when {@link reached} is called, or after so many ms. */
  wait(most: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = deadline(most, resolve);
      this.#resolve = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Nothing is in flight any more. */
  reached(): void {
    this.#resolve?.();
    this.#resolve = null;
  }
}
