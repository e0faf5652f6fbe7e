/**
 * Responses of Node.js that are held back until they are stored.
 *
 * @module
 */

import type { Claim } from "../client/claim.js";
import { queueMicrotask } from "../host.js";
import { isBytes } from "../realms.js";
import { joined } from "./bytes.js";
import type { Gate, Settled } from "./gate.js";
import { type Listener, type NodeResponse, nodeError, statusOf } from "./node.js";
import { type Header, type Reply, STORED, announced } from "./response.js";
import type { Shield } from "./shield.js";

type HeaderValue = number | string | readonly string[];
type Done = (error?: Error | null) => void;
/** The arguments of `write` and `end`: a chunk, its encoding and a callback, all of them optional. */
type ChunkArguments = readonly unknown[];

/** The members of an `http.ServerResponse` that this package uses to write a response. */
export interface WritableResponse extends NodeResponse {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  setHeader(name: string, value: HeaderValue): unknown;
  getHeaders(): Readonly<Record<string, HeaderValue | undefined>>;
  getHeader(name: string): HeaderValue | undefined;
  appendHeader?(name: string, value: string | readonly string[]): unknown;
  removeHeader(name: string): void;
  flushHeaders(): void;
  writeHead(status: number, ...more: unknown[]): unknown;
  write(chunk: unknown, ...more: unknown[]): boolean;
  end(...chunk: unknown[]): unknown;
}

/** Puts the status and the headers of a reply into a response. */
export function put(response: WritableResponse, { status, headers }: Reply): void {
  response.statusCode = status;
  for (const [name, value] of grouped(headers)) {
    response.setHeader(name, value);
  }
}

/** The values of each header; several values are an array. */
export function grouped(headers: Iterable<Header>): Map<string, string | string[]> {
  const all = new Map<string, string | string[]>();
  for (const [name, value] of headers) {
    const before = all.get(name);
    all.set(name, before === undefined ? value : [before, value].flat());
  }
  return all;
}

/**
 * Removes the headers that are there. If a program removes `Transfer-Encoding`, Node.js does not add it later, not even
 * if the response had none. Middleware outside, such as `compression`, needs it for a body of unknown length.
 */
export function removeHeaders(
  response: { getHeaders(): object; removeHeader(name: string): unknown },
  names: readonly string[],
): void {
  const present = response.getHeaders();
  for (const name of names.filter((one) => one in present)) {
    response.removeHeader(name);
  }
}

/** The headers of a response. */
export function* headersOf(all: Readonly<Record<string, HeaderValue | undefined>>): Generator<Header> {
  for (const [name, value = []] of Object.entries(all)) {
    for (const one of typeof value === "object" ? value : [value]) {
      yield [name, String(one)];
    }
  }
}

/**
 * Takes over the methods with which a handler writes its response. A response of a known length is held back until its
 * claim has ended. Of any other response, only the end is held back.
 */
export function hold<R extends object>(response: WritableResponse, gate: Gate<R>, claim: Claim, shield: Shield): void {
  const head = response.writeHead.bind(response);
  const flush = response.flushHeaders.bind(response);
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  const [headersSent, writableEnded] = [former(response, "headersSent"), former(response, "writableEnded")];
  const chunks: Uint8Array[] = [];
  let [size, passed] = [0, 0];
  let length: number | null = null;
  /**
   * The handler can no longer change the head; nothing is held back; the handler has ended; the head is out; the end is
   * out.
   */
  let [isFixed, isPassing, isEnded, isOut, isSent] = [false, false, false, false, false];

  const headers = () => headersOf(response.getHeaders());
  const isHeld = () => {
    const length = announced(response.getHeader("content-length"));
    return length !== null && size <= length && gate.fits(response.statusCode, headers(), length);
  };

  /** The response cannot be stored: the part that was held back is written. */
  function pass(): void {
    isPassing = true;
    length = announced(response.getHeader("content-length"));
    if (gate.endOf(response.statusCode) === "complete") {
      response.setHeader(STORED, "false");
    }
    for (const chunk of chunks.splice(0)) {
      forward(chunk);
    }
  }

  /**
   * Writes a chunk. If the client has hung up, it drops the chunk, and the handler continues. The last bytes of a known
   * length wait for the end.
   */
  function forward(chunk: unknown, ...more: ChunkArguments): boolean {
    if (length !== null) {
      const bytes = bytesOfChunk(chunk, more);
      passed += bytes.length;
      if (passed >= length) {
        chunks.push(bytes);
        callback(more);
        return true;
      }
    }
    if (!shield.isGone) {
      isOut = true;
      return write(chunk, ...more);
    }
    callback(more);
    return true;
  }

  /** Throws as Node.js does after it has sent the head. */
  function assertOpen(): void {
    if (isEnded && !isOut) {
      throw nodeError(new Error("Cannot set headers after they are sent to the client"), "ERR_HTTP_HEADERS_SENT");
    }
  }

  /** Does what Node.js does to the status before it sends the head, and throws as it does if it cannot send it. */
  function checkHead(): void {
    if (!isOut) {
      response.statusCode = statusOf(response);
    }
  }

  function keep(chunk: Uint8Array): void {
    chunks.push(chunk);
    size += chunk.length;
  }

  async function finish(last: ChunkArguments): Promise<void> {
    const done = doneOf(last);
    const rest = joined(chunks);
    const body = isPassing ? null : rest;
    const { statusCode: status, statusMessage } = response;
    const lack = isPassing
      ? gate.lackOf(claim, status, length, passed)
      : gate.lackOf(claim, status, announced(response.getHeader("content-length")), rest.length);
    const settled = await gate.settle(claim, { status, headers: headers(), body }, lack === null ? undefined : "leave");
    [isOut, isSent] = [true, true];
    // The handler may have changed them after its end.
    Object.assign(response, { statusCode: status, statusMessage });
    shield.restoreSockets();
    if (isPassing) {
      end(...(rest.length > 0 ? [rest, done] : [done]));
    } else {
      end(amend(settled) ?? rest, done);
    }
    shield.lift();
  }

  /** The handler ends its response again, before it is sent. */
  function endAgain(last: ChunkArguments): WritableResponse {
    const done = doneOf(last);
    if (isChunk(last[0])) {
      callback(last, tooLate());
    } else if (done !== undefined) {
      response.on("finish", done as Listener);
    }
    return response;
  }

  /** Changes the response to the one that the client gets. Returns its body if that is another one. */
  function amend(settled: Settled): Uint8Array | null {
    if (settled === "not stored") {
      response.setHeader(STORED, "false");
    }
    if (typeof settled === "string") {
      return null;
    }
    removeHeaders(response, gate.replaced);
    response.statusMessage = "";
    put(response, settled);
    return settled.body;
  }

  Object.assign(response, {
    writeHead(status: number, ...more: unknown[]) {
      if (isSent || isPassing) {
        return head(status, ...more);
      }
      assertOpen();
      fix(response, status, more);
      isFixed = true;
      return response;
    },
    flushHeaders() {
      checkHead();
      isFixed = true;
      if (!isSent && !isPassing && !isHeld()) {
        pass();
      }
      if (isSent || isPassing) {
        isOut = true;
        flush();
      }
    },
    write(chunk: unknown, ...more: ChunkArguments) {
      if (isSent) {
        return write(chunk, ...more);
      }
      if (isEnded) {
        callback(more, tooLate());
        return false;
      }
      checkHead();
      if (!isPassing && isHeld()) {
        keep(bytesOfChunk(chunk, more));
        isFixed = true;
        callback(more);
        if (!isHeld()) {
          pass();
        }
        return true;
      }
      isFixed = true;
      if (!isPassing) {
        pass();
      }
      return forward(chunk, ...more);
    },
    end(...last: ChunkArguments) {
      if (isEnded) {
        return isSent ? end(...last) : endAgain(last);
      }
      checkHead();
      const [chunk, ...more] = last;
      if (isChunk(chunk)) {
        // If this throws, the response has not ended yet, so an error handler can respond.
        keep(bytesOfChunk(chunk, more));
      }
      const length = announced(response.getHeader("content-length"));
      if (!isPassing && length !== null && size > length) {
        // The client gets only the announced length, but a replay would have the whole body.
        pass();
      }
      [isFixed, isEnded] = [true, true];
      shield.delayDestroy();
      finish(last).catch((error: unknown) => {
        gate.report("a response was not sent", error);
        shield.lift();
        response.destroy(error);
      });
      return response;
    },
  });
  for (const name of ["setHeader", "appendHeader", "removeHeader"] as const) {
    const change = (response[name] as ((...parameters: unknown[]) => unknown) | undefined)?.bind(response);
    if (change !== undefined) {
      Object.assign(response, {
        [name](...parameters: unknown[]) {
          assertOpen();
          return change(...parameters);
        },
      });
    }
  }
  // Outer middleware, such as `compression`, reads these in its own methods: it needs to know what was really sent.
  Object.defineProperties(response, {
    headersSent: { get: () => (isOut ? headersSent() : isFixed), configurable: true },
    writableEnded: { get: () => (isSent ? writableEnded() : isEnded), configurable: true },
  });
}

/** Returns a function that reads the original property, after another one has replaced it. */
function former<T extends object, K extends keyof T>(from: T, name: K): () => T[K] {
  const own = Object.getOwnPropertyDescriptor(from, name);
  return () =>
    own === undefined
      ? Reflect.get(Object.getPrototypeOf(from) as T, name, from)
      : ((own.get === undefined ? own.value : own.get.call(from)) as T[K]);
}

/** Does what `writeHead` does, so that the head can still change. */
function fix(response: WritableResponse, statusCode: number, [first, second]: readonly unknown[]): void {
  const statusMessage = typeof first === "string" ? first : response.statusMessage;
  const status = statusOf({ statusCode, statusMessage });
  Object.assign(response, { statusCode: status, statusMessage });
  const given = (typeof first === "string" ? second : (first ?? second)) as HeaderValue[] | object | null | undefined;
  if (!Array.isArray(given)) {
    for (const [name, value] of Object.entries(given ?? {}) as [string, HeaderValue | undefined][]) {
      if (value !== undefined) {
        response.setHeader(name, value);
      }
    }
    return;
  }
  const flat = given.flat() as HeaderValue[];
  const pairs = flat.flatMap((name, at) =>
    at % 2 === 1 ? [] : [flat[at + 1] ?? ""].flat().map((value): Header => [String(name).toLowerCase(), String(value)]),
  );
  for (const [name, value] of grouped(pairs)) {
    response.setHeader(name, value);
  }
}

/** The bytes of a chunk, which may be a text in some encoding. */
function bytesOfChunk(chunk: unknown, more: ChunkArguments): Uint8Array {
  if (isBytes(chunk)) {
    // A copy, because the handler may overwrite its own bytes.
    return Uint8Array.from(chunk);
  }
  const [encoding] = more;
  return Buffer.from(chunk as string, (typeof encoding === "string" ? encoding : "utf8") as BufferEncoding);
}

/** Whether the first argument of `end` is a chunk. */
function isChunk(first: unknown): boolean {
  return first !== undefined && first !== null && typeof first !== "function";
}

/** The error of a write after the end. */
function tooLate(): Error {
  return new Error("the response has ended: write before its end");
}

/** The callback among the arguments of `write` or `end`. */
function doneOf(last: ChunkArguments): Done | undefined {
  return last.find((one): one is Done => typeof one === "function");
}

/** Calls the callback of a write that has finished. */
function callback(more: ChunkArguments, error?: Error): void {
  const done = doneOf(more);
  if (done !== undefined) {
    queueMicrotask(() => {
      done(error);
    });
  }
}
