/**
 * Texts in which each character is one byte, as in HTTP.
 *
 * @module
 */

import { TextEncoder } from "../host.js";

const utf8 = new TextEncoder();

/**
 * The bytes of a text of HTTP. If a character is not a byte, the text comes from a program, and is encoded as UTF-8.
 */
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

/** Converts bytes to a text of HTTP. */
export function lineOfBytes(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    text += String.fromCharCode(byte);
  }
  return text;
}

/** Joins several parts. */
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
