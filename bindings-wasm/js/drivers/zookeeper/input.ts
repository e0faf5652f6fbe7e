/**
 * What arrives on the library's socket, handed to the library one frame at a time.
 *
 * The library reads what follows a frame by calling itself: an answer of 20 bytes takes a level of the stack, and the two or three thousand that one read
 * of a busy socket brings overflow it. The error comes out of whatever happens to run then, be it in the middle of the WebAssembly module.
 *
 * @module
 */

import type { Manager } from "./library.js";

/** Who hears of the input. Several may share a connection manager. */
export interface Ear {
  /** Something has arrived. */
  heard(): void;
  /** The library could not read a frame. Gives whether the rest can be read nevertheless. */
  unreadable(error: unknown): boolean;
}

/** Bytes before a frame that say how long it is. */
const LENGTH = 4;

const guards = new WeakMap<Manager, Set<Ear>>();

/** Stands between the socket and the library from now on. Gives the function that takes the ear away, and with the last one the guard. */
export function guard(manager: Manager, ear: Ear): () => void {
  const ears = guards.get(manager) ?? new Set();
  if (ears.size === 0) {
    guards.set(manager, ears);
    install(manager, ears);
  }
  ears.add(ear);
  return () => {
    ears.delete(ear);
    if (ears.size === 0 && guards.get(manager) === ears) {
      guards.delete(manager);
      Reflect.deleteProperty(manager, "onSocketData");
    }
  };
}

function install(manager: Manager, ears: ReadonlySet<Ear>): void {
  // Called with the manager as its `this`, below.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const original = (Object.getPrototypeOf(manager) as Manager).onSocketData;
  const guarded = (data: Buffer) => {
    for (const ear of ears) {
      ear.heard();
    }
    const { socket } = manager;
    let rest = manager.pendingBuffer === null ? data : Buffer.concat([manager.pendingBuffer, data]);
    // The library would put it before the frame that it gets.
    manager.pendingBuffer = null;
    for (let end = frame(rest); end !== null; end = frame(rest)) {
      const first = rest.subarray(0, end);
      rest = rest.subarray(end);
      try {
        original.call(manager, first);
      } catch (error) {
        if (ears.size === 0) {
          throw error;
        }
        if (![...ears].some((ear) => ear.unreadable(error))) {
          socket?.destroy();
        }
      }
      if (socket?.destroyed === true) {
        return; // The rest belongs to a connection that is over.
      }
    }
    manager.pendingBuffer = rest.length === 0 ? null : rest;
  };
  manager.onSocketData = guarded;
  // A socket that is open already has the original bound to it.
  const { socket } = manager;
  const [bound] = socket?.listeners("data") ?? [];
  if (socket !== undefined && bound !== undefined) {
    socket.removeListener("data", bound);
    socket.on("data", guarded);
  }
}

/** Where the first frame ends; null: it has not arrived as a whole. */
function frame(bytes: Buffer): number | null {
  if (bytes.length < LENGTH) {
    return null;
  }
  // A length below zero is none: the library gets the four bytes, and finds nothing in them.
  const end = LENGTH + Math.max(0, bytes.readInt32BE(0));
  return bytes.length < end ? null : end;
}
