/**
 * Events of the program's own connections.
 *
 * @module
 */

import { sharing } from "../shared.js";

/** The members of an `EventEmitter` that the drivers use. */
export interface Emitter {
  on(event: string | symbol, listener: Listener): unknown;
  removeListener(event: string | symbol, listener: Listener): unknown;
}

/** A listener of any event. */
export type Listener = (...event: unknown[]) => void;

/** Calls a function at each event. Returns a function that cancels this. */
export const onEvent = sharing<Emitter, Listener>(
  (emitter, event, listener) => emitter.on(event, listener),
  (emitter, event, listener) => emitter.removeListener(event, listener),
);
