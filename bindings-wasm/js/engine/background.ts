/**
 * Background work that no call waits for. It runs after the waiting callers have continued, so that a caller gets the
 * server's answer soon.
 *
 * @module
 */

import { nextTick } from "../host.js";

/**
 * Where the host has no such queue: how many turns of the promise queue it waits. A caller continues in the first turn,
 * or a few turns later behind its own async functions.
 */
const TURNS = 4;

const soon = Promise.resolve();

function turn(left: number, call: () => void): void {
  void soon.then(left === 1 ? call : () => turn(left - 1, call));
}

/** Calls a function when no promise job is left, before the event loop goes on. */
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
