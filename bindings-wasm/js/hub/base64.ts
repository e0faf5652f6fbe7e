/**
 * The package contains its WebAssembly modules as text. So Node.js, Deno, Bun and browsers load them in the same way,
 * without a file or a request.
 *
 * @module
 */

/** Decodes base64. */
export function bytes(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    bytes[index] = text.charCodeAt(index);
  }
  return bytes;
}
