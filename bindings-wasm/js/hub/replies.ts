/**
 * Replies of Redis, as the module reads them.
 *
 * @module
 */

/** Deeper than any reply of a lock's script. */
const DEEPEST = 8;

/** A reply as one text: the fields that `reply.rs` reads, with NULs between them. null: it is no Redis value. */
export function replyText(value: unknown): string | null {
  return encode(value, DEEPEST);
}

function encode(value: unknown, depth: number): string | null {
  switch (typeof value) {
    case "number":
      return Number.isSafeInteger(value) ? `i${value}` : null;
    case "string":
      return value.includes("\0") ? hexadecimal(new TextEncoder().encode(value)) : `s${value}`;
    case "bigint":
      return `i${value}`;
    case "boolean":
      return value ? "i1" : "i0";
    case "undefined":
      return "n";
    case "object":
      break;
    default:
      return null;
  }
  if (value === null) {
    return "n";
  }
  if (Array.isArray(value)) {
    let text = `a${value.length}`;
    for (const item of value) {
      const field = depth === 0 ? null : encode(item, depth - 1);
      if (field === null) {
        return null;
      }
      text += `\0${field}`;
    }
    return text;
  }
  if (value instanceof Uint8Array) {
    return hexadecimal(value);
  }
  return value instanceof Error ? `e${value.message.replaceAll("\0", " ")}` : null;
}

function hexadecimal(bytes: Uint8Array): string {
  return `x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
