/**
 * Background work that no call waits for. It runs after the waiting callers have continued, so that a caller gets the
 * server's reply soon.
 *
 * @module
 */

import { nextTick } from "../host.js";

/**
 * How many turns of the promise queue to wait if the host has no `nextTick`. A caller continues in the first turn, or a
 * few turns later if async functions of its own come in between.
 */
const TURNS = 4;

const soon = Promise.resolve();

function turn(left: number, call: () => void): void {
  void soon.then(left === 1 ? call : () => turn(left - 1, call));
}

/** Calls a function when no promise job is left, before the event loop continues. */
const afterPromises: (call: () => void) => void = nextTick ?? ((call) => turn(TURNS, call));

/** Calls a function once, however often the caller has requested it. */
export class Background {
  readonly #run: () => void;
  #wanted = false;

  constructor(call: () => void) {
    this.#run = () => {
      this.#wanted = false;
      call();
    };
  }

  want(): void {
    if (!this.#wanted) {
      this.#wanted = true;
      afterPromises(this.#run);
    }
  }
}
