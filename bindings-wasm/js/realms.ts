/**
 * Values of another realm. In a test runner's environment, `Error` and `Uint8Array` may be other classes than those of
 * Node.js, which makes errors and Buffers.
 *
 * @module
 */

/** The name of the built-in class of a value. */
export function classOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** Whether a value is an error. */
export function isError(value: unknown): value is Error {
  // eslint-disable-next-line no-restricted-syntax
  return value instanceof Error || ["Error", "DOMException"].includes(classOf(value));
}

/** Whether a value is bytes. */
export function isBytes(value: unknown): value is Uint8Array {
  // eslint-disable-next-line no-restricted-syntax
  return value instanceof Uint8Array || classOf(value) === "Uint8Array";
}
