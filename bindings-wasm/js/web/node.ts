/**
 * Requests and responses of Node.js, which Express and Fastify use.
 *
 * @module
 */

import { shown, unreadable } from "../errors.js";
import { isBytes, isError } from "../realms.js";
import { joined } from "./bytes.js";

/** The members of an `http.IncomingMessage` that this package uses. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly complete?: boolean;
  readonly readableDidRead: boolean;
  readonly readableLength: number;
  /** null while nothing reads the request. */
  readonly readableFlowing: boolean | null;
  readonly destroyed: boolean;
  readonly socket: NodeSocket;
  /** HTTP/2's stream of the request. */
  readonly stream?: { readonly endAfterHeaders: boolean; readonly rstCode?: number | undefined };
  read(): unknown;
  unshift(chunk: Uint8Array): void;
  resume(): unknown;
  destroy(error?: Error): unknown;
  on(event: string, listener: Listener): unknown;
  removeListener(event: string, listener: Listener): unknown;
}

/** The members of a `net.Socket` that this package uses. */
export interface NodeSocket {
  readonly readableEnded: boolean;
  readonly destroyed: boolean;
  readonly errored?: Error | null;
  on(event: string, listener: Listener): unknown;
  destroy(error?: Error): unknown;
}

/** A listener of any event. */
export type Listener = (...parameters: unknown[]) => void;

/** The members of an `http.ServerResponse` that this package uses. */
export interface NodeResponse {
  statusCode: number;
  statusMessage: string;
  destroyed: boolean;
  readonly socket?: NodeSocket | null;
  destroy(error?: unknown): unknown;
  emit(event: string, ...parameters: unknown[]): boolean;
  on(event: string, listener: Listener): unknown;
  off(event: string, listener: Listener): unknown;
  removeListener(event: string, listener: Listener): unknown;
  // A listener of Node.js is a `Function`.
  rawListeners(event: string): readonly unknown[];
}

/** The value of a request's header. */
export function headerOf(request: Pick<NodeRequest, "headers">, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** An error of Node.js. */
export function nodeError<E extends Error>(error: E, code: string): E & { readonly code: string } {
  return Object.assign(error, { code });
}

/** The characters that Node.js does not send in the first line of a response. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * The status of a response as Node.js sends it: a whole number, also if the program has set a text. Throws as Node.js
 * does for a status or a `statusMessage` that cannot be sent.
 */
export function statusOf(response: Pick<NodeResponse, "statusCode" | "statusMessage">): number {
  const { statusCode, statusMessage } = response as { statusCode: number; statusMessage: string | undefined };
  const status = statusCode | 0;
  if (status < 100 || status > 999) {
    throw nodeError(new RangeError(`Invalid status code: ${statusCode}`), "ERR_HTTP_INVALID_STATUS_CODE");
  }
  if (UNSENDABLE.test(statusMessage ?? "")) {
    throw nodeError(new TypeError("Invalid character in statusMessage"), "ERR_INVALID_CHAR");
  }
  return status;
}

/**
 * Whether the whole request has arrived. `complete` becomes true too late in HTTP/2, and does not exist in the requests
 * of Fastify's `inject`.
 */
function hasAll(request: NodeRequest): boolean {
  const { complete, _readableState } = request as NodeRequest & { readonly _readableState?: { ended?: boolean } };
  return _readableState?.ended ?? complete === true;
}

/** Whether a request has a body. */
function hasBody(request: NodeRequest): boolean {
  if (request.stream !== undefined) {
    return !request.stream.endAfterHeaders;
  }
  return headerOf(request, "transfer-encoding") !== undefined || Number(headerOf(request, "content-length") ?? 0) > 0;
}

/**
 * Discards a body that nothing reads, when the response has finished. Node.js does so itself only for a request that
 * nothing has read. Otherwise the request would never end, and its body would stay in memory as long as the connection.
 */
function discardUnread(request: NodeRequest, response: NodeResponse): void {
  response.on("finish", () => {
    if (request.readableFlowing === null) {
      request.resume();
    }
  });
}

/**
 * Reads a request's body, and puts it back, so that body parsers can read it again. Returns null if it is longer than
 * `most` bytes.
 *
 * @throws ConfigError if the body has been read already; the request's error, if the client hangs up before its end.
 */
export async function peek(request: NodeRequest, response: NodeResponse, most: number): Promise<Uint8Array | null> {
  if (Number(headerOf(request, "content-length") ?? 0) > most) {
    return null;
  }
  if (!hasBody(request)) {
    return new Uint8Array();
  }
  if (request.readableDidRead) {
    const { rawBody } = request as NodeRequest & { readonly rawBody?: unknown };
    if (isBytes(rawBody)) {
      return rawBody.length > most ? null : rawBody;
    }
    const remedy = "put this middleware before body parsers, or keep the bytes as rawBody of the request";
    throw unreadable(`the request's body has been read, and rawBody is ${shown(rawBody)}: ${remedy}`);
  }
  if (hasAll(request) && request.readableLength === 0) {
    // There is nothing left to read but the end.
    return new Uint8Array();
  }
  discardUnread(request, response);
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const done = () => {
      for (const [event, listener] of Object.entries(listeners)) {
        request.removeListener(event, listener);
      }
    };
    const gone = (error?: unknown) => {
      done();
      reject(isError(error) ? error : new Error("the client has hung up before the end of its request"));
    };
    const listeners = {
      readable: () => {
        // An empty read at the end would end the stream, and a later reader would wait for the end in vain.
        while (request.readableLength > 0) {
          const chunk = request.read() as Uint8Array;
          chunks.push(chunk);
          size += chunk.length;
        }
        if (size > most) {
          done();
          // Node.js keeps the connection open when the rest has arrived.
          request.resume();
          resolve(null);
        } else if (hasAll(request)) {
          done();
          const body = joined(chunks);
          if (size > 0) {
            // Otherwise the stream ends in the next turn of the queue.
            request.unshift(body);
          }
          resolve(body);
        }
      },
      error: gone,
      close: () => {
        gone();
      },
    };
    for (const [event, listener] of Object.entries(listeners)) {
      request.on(event, listener);
    }
  });
}
