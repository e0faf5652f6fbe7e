/**
 * Texts in which each character is one byte, as HTTP has them.
 *
 * @module
 */

import { TextEncoder } from "../host.js";

const utf8 = new TextEncoder();

/** The bytes of a text of HTTP. A character that is no byte can only come from a program: it stands for its UTF-8. */
export function bytesOfLine(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0xff) {
      return utf8.encode(text);
    }
    bytes[at] = code;
  }
  return bytes;
}

/** The text of HTTP that bytes are. */
export function lineOfBytes(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    text += String.fromCharCode(byte);
  }
  return text;
}

/** Several parts as one. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) {
    return first;
  }
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Bytes as lower-case hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A value without spaces and tabs at its ends. */
export function stripped(value: string): string {
  return value.replace(/^[ \t]+|[ \t]+$/g, "");
}
