/**
 * Abort signals, for programs whose types know neither a browser's nor those of Node.js.
 *
 * @module
 */

/** The members that an `AbortSignal` has on every platform. */
interface BareSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** An `AbortSignal`, as the program's own types describe it. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Known } } ? Known : BareSignal;
