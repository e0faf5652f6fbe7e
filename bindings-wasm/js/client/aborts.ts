/**
 * The program's abort signals. Each signal has one listener, even if many calls wait with it: Node.js warns of a leak
 * when a signal has more than ten listeners.
 *
 * @module
 */

import type { Signal } from "./signal.js";

interface Waiting {
  readonly calls: Set<() => void>;
  readonly listener: () => void;
}

const known = new WeakMap<Signal, Waiting>();

/** @throws the signal's reason, if it is aborted. Polyfills have no `throwIfAborted`. */
export function checkAborted(signal: Signal | undefined): void {
  if (signal?.aborted === true) {
    throw reasonOf(signal);
  }
}

/** The reason of an aborted signal. The signals of some polyfills have none. */
export function reasonOf({ reason }: Signal): unknown {
  return reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason;
}

/** Calls a function when the signal is aborted. Returns a function that cancels this. */
export function onAbort(signal: Signal, call: () => void): () => void {
  let waiting = known.get(signal);
  if (waiting === undefined) {
    const calls = new Set<() => void>();
    const listener = () => {
      known.delete(signal);
      for (const one of calls) {
        one();
      }
    };
    waiting = { calls, listener };
    known.set(signal, waiting);
    signal.addEventListener("abort", listener, { once: true });
  }
  const { calls, listener } = waiting;
  calls.add(call);
  return () => {
    calls.delete(call);
    if (calls.size === 0) {
      signal.removeEventListener("abort", listener);
      known.delete(signal);
    }
  };
}
