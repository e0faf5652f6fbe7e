/**
 * The program's abort signals.
 *
 * @module
 */

import { sharing } from "../shared.js";
import type { Signal } from "./signal.js";

const listen = sharing<Signal, () => void>(
  (signal, _event, listener) => {
    signal.addEventListener("abort", listener);
  },
  (signal, _event, listener) => {
    signal.removeEventListener("abort", listener);
  },
);

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
  return listen(signal, "abort", call);
}
