/**
 * The end of what is under way when a client closes.
 *
 * @module
 */

import { deadline } from "./timers.js";

/** Waited for by one. */
export class Idle {
  #resolve: (() => void) | null = null;

  get awaited(): boolean {
    return this.#resolve !== null;
  }

  /** Resolves when {@link reached} is called, and after so many ms at the latest. */
  wait(most: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = deadline(most, resolve);
      this.#resolve = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Nothing is under way any more. */
  reached(): void {
    this.#resolve?.();
    this.#resolve = null;
  }
}
