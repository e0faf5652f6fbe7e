/**
 * A list from which any item can be removed.
 *
 * A Set or a Map whose members are added and removed with each request gets a new table again and again. If the garbage
 * collector has moved a table to the old generation, that table keeps its successors and all their members alive, until
 * V8 collects the old generation. That took a quarter of the CPU time of an acquire and release.
 *
 * @module
 */

/** An item of a {@link List}. */
export interface Item<T> {
  readonly value: T;
  /** Null if the item was removed. */
  before: Item<T> | Ends<T> | null;
  after: Item<T> | Ends<T> | null;
}

/** The link before the first item and after the last one. */
interface Ends<T> {
  before: Item<T> | Ends<T>;
  after: Item<T> | Ends<T>;
}

/** Items in the order in which they were added. */
export class List<T> {
  readonly #ends: Ends<T>;

  constructor() {
    const ends = {} as Ends<T>;
    ends.before = ends;
    ends.after = ends;
    this.#ends = ends;
  }

  /** The oldest item. */
  get first(): Item<T> | null {
    const { after } = this.#ends;
    return "value" in after ? after : null;
  }

  /** Adds a value. {@link remove} removes its item. */
  add(value: T): Item<T> {
    const last = this.#ends.before;
    const item: Item<T> = { value, before: last, after: this.#ends };
    last.after = item;
    this.#ends.before = item;
    return item;
  }

  /** Removes all items. Returns their values, oldest first. */
  clear(): T[] {
    const values: T[] = [];
    for (let { first } = this; first !== null; { first } = this) {
      values.push(first.value);
      remove(first);
    }
    return values;
  }
}

/** Removes an item from its list. Returns false if it was removed before. */
export function remove<T>(item: Item<T>): boolean {
  const { before, after } = item;
  if (before === null || after === null) {
    return false;
  }
  before.after = after;
  after.before = before;
  // Otherwise an item in the old generation would keep its neighbours alive.
  item.before = null;
  item.after = null;
  return true;
}
