/**
 * Conversion between values and results.
 *
 * @module
 */

import { ConfigError, named, shown, unreadable } from "../errors.js";
import { TextDecoder } from "../host.js";
import { classOf, isError } from "../realms.js";
import { type Bytes, bytesOf } from "./bytes.js";

/** Converts values to results, and results to values. */
export interface Codec<T> {
  /** A short text that names the format of the results, of at most 255 bytes. It must not be `error`. */
  readonly tag: string;
  /** @throws anything for a value that cannot be stored. */
  encode(value: T): Bytes;
  decode(result: Uint8Array): T;
}

/** @internal The tag of a result that is an error's text. It is the same in all languages. */
export const ERROR = "error";

const utf8 = new TextDecoder();

/** @internal */
export const JSON_CODEC: Codec<unknown> = {
  tag: "json",
  encode(value) {
    // JSON has no `undefined`: null replaces it.
    return JSON.stringify(value === undefined ? null : value, checked);
  },
  decode: (result) => JSON.parse(utf8.decode(result)) as unknown,
};

/** A replacer that refuses what JSON.stringify would change or drop without an error: a Map would come back as `{}`. */
function checked(this: unknown, name: string, value: unknown): unknown {
  // The value before `toJSON`. If `toJSON` replaces it, the object's class has chosen that.
  const given = (this as Record<string, unknown>)[name];
  const changed = ArrayBuffer.isView(given) || (value === null && classOf(given) === "Date");
  if (changed || (Object.is(value, given) && !isInJson(given))) {
    const what = typeof given === "object" ? `an object of the class ${classOf(given)}` : shown(given);
    throw unreadable(`${name === "" ? "it" : `its ${shown(name)}`} is ${what}, which JSON cannot store: give a codec`);
  }
  return value;
}

function isInJson(value: unknown): boolean {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value);
    case "function":
    case "symbol":
      return false;
    case "object":
      return ["Null", "Object", "Array", "Boolean", "Number", "String"].includes(classOf(value));
    default:
      return true;
  }
}

/** @internal The bytes of a value. */
export function encoded<T>(key: string, codec: Codec<T>, value: T): Uint8Array {
  try {
    return bytesOf("the encoded value", codec.encode(value));
  } catch (error) {
    const why = isError(error) ? error.message : String(error);
    const text = `${named(key)}: the function's value cannot be stored (${why}), so the client left the claim`;
    throw new ConfigError(109, "unreadable-settings", text, { cause: error });
  }
}

/** @internal */
export function checkedCodec<T>(codec: Codec<T>): Codec<T> {
  const { tag, encode, decode } = codec as Partial<Record<keyof Codec<T>, unknown>>;
  if (typeof tag !== "string" || tag === ERROR || typeof encode !== "function" || typeof decode !== "function") {
    throw unreadable(`a codec has a tag other than "${ERROR}", and the functions encode and decode`);
  }
  return codec;
}
