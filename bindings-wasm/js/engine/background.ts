/**
 * What nobody waits for is done when those who wait have gone on: the way from the server's answer to the caller's next line stays short.
 *
 * @module
 */

import { nextTick } from "../host.js";

/** Where there is no such queue: how many turns of that of promises it waits. A caller goes on in the first or, behind async functions of its own, later. */
const TURNS = 4;

const soon = Promise.resolve();

function turn(left: number, call: () => void): void {
  void soon.then(left === 1 ? call : () => turn(left - 1, call));
}

/** Calls a function when no promise has anything left to do, and before the event loop goes on. */
const afterPromises: (call: () => void) => void = nextTick ?? ((call) => turn(TURNS, call));

/** Calls a function once after it has been wanted, however often that was. */
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
