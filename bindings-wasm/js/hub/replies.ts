/**
 * Passes Redis replies to the module, part by part.
 *
 * @module
 */

import { isBytes, isError } from "../realms.js";
import type { Module } from "./families/module.js";

type Parts = Pick<InstanceType<Module["RawHub"]>, "nil" | "integer" | "bytes" | "text" | "errorReply" | "gather">;

/** No script returns a deeper reply. */
const DEEPEST = 8;

/** Passes a reply to the module. An array follows its items. Returns false if it is not a Redis value. */
export function handOver(parts: Parts, value: unknown, depth = DEEPEST): boolean {
  switch (typeof value) {
    case "number":
      if (!Number.isSafeInteger(value)) {
        return false;
      }
      parts.integer(BigInt(value));
      return true;
    case "bigint":
      if (BigInt.asIntN(64, value) !== value) {
        return false;
      }
      parts.integer(value);
      return true;
    case "boolean":
      parts.integer(value ? 1n : 0n);
      return true;
    case "string":
      parts.text(value);
      return true;
    case "undefined":
      parts.nil();
      return true;
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) {
    parts.nil();
  } else if (Array.isArray(value) && depth > 0) {
    for (const item of value) {
      if (!handOver(parts, item, depth - 1)) {
        return false;
      }
    }
    parts.gather(value.length);
  } else if (isBytes(value)) {
    parts.bytes(value);
  } else if (isError(value)) {
    parts.errorReply(value.message);
  } else {
    return false;
  }
  return true;
}
