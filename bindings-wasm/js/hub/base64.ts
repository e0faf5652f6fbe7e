/**
 * WebAssembly modules travel as text inside the package, so that Node.js, Deno, Bun and browsers load them in the same way, without a file or a
 * request.
 *
 * @module
 */

/** The bytes that a text of base64 stands for. */
export function bytes(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    bytes[index] = text.charCodeAt(index);
  }
  return bytes;
}
