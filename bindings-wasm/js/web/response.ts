/**
 * Responses in their stored form.
 *
 * @module
 */

import { bytesOfLine, joined, lineOfBytes, stripped } from "./bytes.js";

/** The tag of a stored response. */
export const TAG = "http-response:1";
/** The header of a response that comes from the record. */
export const REPLAYED = "idempotent-replayed";
/** The header that has `false` if a retry does not get this response. */
export const STORED = "idempotency-stored";

/** The response headers that are stored. */
export const STORED_HEADERS: readonly string[] = [
  ...["cache-control", "content-disposition", "content-encoding", "content-language", "content-location"],
  ...["content-type", "etag", "expires", "last-modified", "link", "location", "vary"],
];

/** The response headers that no program can have stored. */
export const NEVER_STORED: readonly string[] = [
  ...["connection", "content-length", "date", "idempotency-stored", "idempotent-replayed", "keep-alive"],
  ...["proxy-authenticate", "proxy-authentication-info", "proxy-connection", "server", "set-cookie", "set-cookie2"],
  ...["te", "trailer", "transfer-encoding", "upgrade"],
];

const STATUS = /^([2-5][0-9][0-9])( status-only)?$/;
const HEADER = /^([!#$%&'*+.^_`|~0-9a-z-]+): (.*)$/s;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Characters that would end a header early. */
const BREAKS = /[\n\r\0]/;

/** The name and the value of a header. */
export type Header = readonly [name: string, value: string];

/** A response as a whole. */
export interface Reply {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
}

/** Whether a text may be the name of a header. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/** Whether a response with this status may have a `Content-Length`. */
export function hasLength(status: number): boolean {
  return status !== 204 && status !== 304;
}

/** The length in a `Content-Length`; null if there is none. */
export function announced(value: number | string | readonly string[] | null | undefined): number | null {
  return value !== undefined && /^\d+$/.test(String(value)) ? Number(value) : null;
}

/** The head of the stored form. */
export function headOf(status: number, headers: Iterable<Header>, names: ReadonlySet<string>): Uint8Array {
  let head = `${status}\n`;
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (names.has(lower) && !BREAKS.test(value)) {
      head += `${lower}: ${stripped(value)}\n`;
    }
  }
  return bytesOfLine(`${head}\n`);
}

/** The stored form of a response of which only the status is stored. */
export function statusAlone(status: number): Uint8Array {
  return bytesOfLine(`${status} status-only\n\n`);
}

/** The stored form of a response; with the status alone, if it would be longer than `most` bytes. */
export function encoded({ status, headers, body }: Reply, names: ReadonlySet<string>, most: number): Uint8Array {
  const form = joined([headOf(status, headers, names), body]);
  return form.length <= most ? form : statusAlone(status);
}

/** Whether a stored form has the status alone. */
export function isStatusAlone(form: Uint8Array): boolean {
  return form[3] === SPACE;
}

const SPACE = 0x20;
const LINE_FEED = 0x0a;

/** The replay of a stored response to a request with this method; null if the bytes are not a stored response. */
export function replayOf(form: Uint8Array, method: string): Reply | null {
  let at = 0;
  const line = () => {
    const end = form.indexOf(LINE_FEED, at);
    if (end < 0) {
      return null;
    }
    const text = lineOfBytes(form.subarray(at, end));
    at = end + 1;
    return text;
  };
  const [, digits, alone] = STATUS.exec(line() ?? "") ?? [];
  if (digits === undefined) {
    return null;
  }
  const status = Number(digits);
  const headers: Header[] = [];
  for (let text = line(); text !== ""; text = line()) {
    const [, name, value] = HEADER.exec(text ?? "") ?? [];
    if (name === undefined || value === undefined || BREAKS.test(value) || value !== stripped(value)) {
      return null;
    }
    headers.push([name, value]);
  }
  const body = form.slice(at);
  if (alone !== undefined && (headers.length > 0 || body.length > 0)) {
    return null;
  }
  headers.push([REPLAYED, "true"]);
  if (alone !== undefined) {
    headers.push([STORED, "false"]);
  }
  // The length of a response to HEAD would be that of the response to GET, which is not stored.
  if (hasLength(status) && (body.length > 0 || method !== "HEAD")) {
    headers.push(["content-length", String(body.length)]);
  }
  return { status, headers, body };
}
