/**
 * Passes the input of the library's socket to the library, one frame at a time.
 *
 * The library calls itself for each further frame. A reply of 20 bytes needs one level of the stack, and one read of a
 * busy socket has two or three thousand replies. This overflows the stack. The error then appears in any code that is
 * running, perhaps in the WebAssembly module.
 *
 * @module
 */

import type { Manager } from "./library.js";

/** The listeners for the input. Several may share a connection manager. */
export interface InputListener {
  /** Input has arrived. */
  received(): void;
  /** The library could not parse a frame. Returns whether the rest can still be parsed. */
  unreadable(error: unknown): boolean;
}

/** The bytes before a frame that have its length. */
const LENGTH = 4;

const guards = new WeakMap<Manager, Set<InputListener>>();

/**
 * Intercepts the socket's input from now on. Returns the function that removes the listener, and with the last listener
 * the interception.
 */
export function guard(manager: Manager, listener: InputListener): () => void {
  const listening = guards.get(manager) ?? new Set();
  if (listening.size === 0) {
    guards.set(manager, listening);
    install(manager, listening);
  }
  listening.add(listener);
  return () => {
    listening.delete(listener);
    if (listening.size === 0 && guards.get(manager) === listening) {
      guards.delete(manager);
      Reflect.deleteProperty(manager, "onSocketData");
    }
  };
}

function install(manager: Manager, listening: ReadonlySet<InputListener>): void {
  // The calls below pass the manager as `this`.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const original = (Object.getPrototypeOf(manager) as Manager).onSocketData;
  const guarded = (data: Buffer) => {
    for (const listener of listening) {
      listener.received();
    }
    const { socket } = manager;
    let rest = manager.pendingBuffer === null ? data : Buffer.concat([manager.pendingBuffer, data]);
    // The library would put it before the next frame.
    manager.pendingBuffer = null;
    for (let end = frame(rest); end !== null; end = frame(rest)) {
      const first = rest.subarray(0, end);
      rest = rest.subarray(end);
      try {
        original.call(manager, first);
      } catch (error) {
        if (listening.size === 0) {
          throw error;
        }
        if (![...listening].some((listener) => listener.unreadable(error))) {
          socket?.destroy();
        }
      }
      if (socket?.destroyed === true) {
        return; // The rest belongs to a connection that has ended.
      }
    }
    manager.pendingBuffer = rest.length === 0 ? null : rest;
  };
  manager.onSocketData = guarded;
  // If the socket is already open, the original function is bound to it.
  const { socket } = manager;
  const [bound] = socket?.listeners("data") ?? [];
  if (socket !== undefined && bound !== undefined) {
    socket.removeListener("data", bound);
    socket.on("data", guarded);
  }
}

/** The end of the first frame; null if it is not complete. */
function frame(bytes: Buffer): number | null {
  if (bytes.length < LENGTH) {
    return null;
  }
  // A negative length is not valid. The library gets the four bytes, and ignores them.
  const end = LENGTH + Math.max(0, bytes.readInt32BE(0));
  return bytes.length < end ? null : end;
}
