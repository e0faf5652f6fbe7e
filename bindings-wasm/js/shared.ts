/**
 * Listeners on objects of the program. Each event of an object has one listener, even if many calls or clients wait for
 * it: Node.js warns of a leak when an event has more than ten listeners.
 *
 * @module
 */

type Listener = (...parameters: never[]) => void;

/** Changes the listeners of an object. */
type Change<T, L> = (target: T, event: string | symbol, listener: L) => unknown;

/** Calls a function at each event of an object. Returns a function that cancels this. */
type Listen<T, L> = (target: T, event: string | symbol, call: L) => () => void;

interface Shared<L> {
  readonly calls: Set<L>;
  readonly listener: L;
}

/** Returns a function that listens to objects of one kind. `add` and `remove` change an object's listeners. */
export function sharing<T extends object, L extends Listener>(add: Change<T, L>, remove: Change<T, L>): Listen<T, L> {
  const known = new WeakMap<T, Map<string | symbol, Shared<L>>>();
  return (target, event, call) => {
    const events = known.get(target) ?? new Map<string | symbol, Shared<L>>();
    known.set(target, events);
    const { calls, listener } = events.get(event) ?? begun<L>();
    if (calls.size === 0) {
      events.set(event, { calls, listener });
      add(target, event, listener);
    }
    calls.add(call);
    return () => {
      if (calls.delete(call) && calls.size === 0) {
        events.delete(event);
        remove(target, event, listener);
      }
    };
  };
}

function begun<L extends Listener>(): Shared<L> {
  const calls = new Set<L>();
  const listener = (...parameters: Parameters<L>) => {
    for (const call of calls) {
      call(...parameters);
    }
  };
  return { calls, listener: listener as L };
}
