/**
 * The runtime's timers and clocks. This file stores them when it is loaded. A program's tests may replace them later
 * (fake timers), and leases, renewals and timeouts must not stop then.
 *
 * @module
 */

export const { performance, clearInterval, clearTimeout, queueMicrotask, setInterval, setTimeout } = globalThis;

/** A timer of this runtime: an object in Node.js, a number elsewhere. */
export type Timer = ReturnType<typeof setTimeout>;

interface Host {
  nextTick?(call: () => void): void;
  getBuiltinModule?(name: string): unknown;
}

const host = (globalThis as { process?: Host }).process;

/** Calls a function before the event loop continues; null if the runtime has no such queue. */
export const nextTick: ((call: () => void) => void) | null = host?.nextTick?.bind(host) ?? null;

/** A module of Node.js, or nothing. */
export function builtin(name: string): unknown {
  return host?.getBuiltinModule?.(name);
}

/** Calls a function in an async context that was stored before. */
type InContext = <T>(call: () => T) => T;

interface AsyncResource {
  runInAsyncScope<T>(call: () => T): T;
}

const { AsyncResource: Base } = (builtin("node:async_hooks") ?? {}) as {
  AsyncResource?: new (type: string) => AsyncResource;
};

/** A context keeps nothing open. Without this method, Jest (`--detectOpenHandles`) would report each context. */
const Context =
  Base &&
  class extends Base {
    hasRef(): boolean {
      return false;
    }
  };

/** Stores the present async context: the data in `AsyncLocalStorage`, such as a request's id. */
export function presentContext(): InContext {
  if (Context === undefined) {
    return (call) => call();
  }
  const context = new Context("fencepost");
  return (call) => context.runInAsyncScope(call);
}

/**
 * Calls a function in the context in which this file was loaded. Timers and connections outlive the request that needed
 * them first. If they were made in that request's context, they would keep its data alive, and run in it for other
 * requests.
 */
export const outside: InContext = presentContext();

/** jsdom does not have these globals, but Node.js has them. */
export const { TextDecoder, TextEncoder } = (
  "TextDecoder" in globalThis ? globalThis : (builtin("node:util") ?? {})
) as Pick<typeof globalThis, "TextDecoder" | "TextEncoder">;

const { setImmediate } = globalThis as { setImmediate?: (call: () => void) => unknown };

/** Calls a function when the event loop has processed the input that has arrived. */
export const afterInput: (call: () => void) => void =
  setImmediate === undefined ? (call) => void setTimeout(call, 0) : (call) => void setImmediate(call);
