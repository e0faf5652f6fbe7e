/**
 * What nobody waits for is done when those who wait have gone on: the way from the server's answer to the caller's next line stays short.
 *
 * @module
 */

/** How many turns of the queue of promises it waits: a caller goes on in the first or, behind an async function of its own, one or two later. */
const TURNS = 4;

const soon = Promise.resolve();

/** Calls a function once after it has been wanted, however often that was, and before the event loop goes on. */
export class Afterwards {
  readonly #call: () => void;
  readonly #turn = () => {
    this.#next();
  };
  #left = 0;

  constructor(call: () => void) {
    this.#call = call;
  }

  want(): void {
    if (this.#left === 0) {
      this.#left = TURNS;
      void soon.then(this.#turn);
    }
  }

  #next(): void {
    this.#left -= 1;
    if (this.#left === 0) {
      this.#call();
    } else {
      void soon.then(this.#turn);
    }
  }
}
