/** The resource: a shop with one pair of shoes, which can check the fence of each request. */

import { counted } from "./words.js";

/** How many pairs the shop has at first. */
export const STOCK = 1;

export interface Sale {
  readonly who: string;
  readonly fence: bigint;
}

/** The visible state of the shop. */
export interface ShopView {
  readonly checks: boolean;
  readonly stock: number;
  /** The highest fence that the shop has accepted. */
  readonly highest: bigint | null;
  readonly sales: readonly Sale[];
  readonly refused: number;
  /** How many pairs are sold that the shop never had. */
  readonly oversold: number;
}

export class Shop {
  checks = true;
  #stock = STOCK;
  #highest: bigint | null = null;
  readonly #sales: Sale[] = [];
  #refused = 0;

  view(): ShopView {
    return {
      checks: this.checks,
      stock: this.#stock,
      highest: this.#highest,
      sales: [...this.#sales],
      refused: this.#refused,
      oversold: Math.max(0, this.#sales.length - STOCK),
    };
  }

  /**
   * A read. With a fence, it also raises the highest fence: otherwise a late write could occur between a later holder's
   * read and its write. `seen` is null if the shop rejects the read.
   */
  look(who: string, fence: bigint | null): { answer: string; seen: number | null } {
    const refusal = fence === null ? null : this.#refusal(who, fence, "read");
    return refusal === null
      ? { answer: `The shop answers: ${pairs(this.#stock)}.`, seen: this.#stock }
      : { answer: refusal, seen: null };
  }

  /** Sells one pair: writes the stock that the contender has read, less one. Returns the shop's reply. */
  sell(who: string, fence: bigint, seen: number): string {
    const refusal = this.#refusal(who, fence, "write");
    if (refusal !== null) {
      return refusal;
    }
    this.#stock = seen - 1;
    this.#sales.push({ who, fence });
    const sold = this.#sales.length;
    const tooMany = sold > STOCK ? ` The shop had ${pairs(STOCK)} and has sold ${sold}: it has oversold.` : "";
    const accepted = this.checks ? `accepts fence ${fence}` : `does not look at fence ${fence}`;
    return `The shop ${accepted}: a pair is sold, and the stock is ${pairs(this.#stock)}.${tooMany}`;
  }

  /** The comparison and the change are one step: no other code runs between them. */
  #refusal(who: string, fence: bigint, what: "read" | "write"): string | null {
    if (!this.checks) {
      return null;
    }
    if (this.#highest !== null && fence < this.#highest) {
      this.#refused += 1;
      return `The shop refuses the ${what} of ${who}: fence ${fence} is lower than ${this.#highest}, the highest that it has seen.`;
    }
    this.#highest = fence;
    return null;
  }
}

/** "1 pair". */
export function pairs(count: number): string {
  return counted(count, "pair");
}
