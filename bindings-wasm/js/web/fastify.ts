/**
 * The middleware for Fastify: a plugin.
 *
 * ```ts
 * const payments = client.idempotency("payments");
 * app.register(idempotent<FastifyRequest>(payments, { scope: (request) => tenantOf(request), secret }));
 * ```
 *
 * It covers the routes that are registered after it, in its scope. It claims a request before its handler: after the
 * request was parsed and validated, and after the hooks `preHandler` that were added before it. `app.close()` waits for
 * the handlers that run, also for those whose clients have hung up, for at most 30 s.
 *
 * @module fencepost/web/fastify
 */

import { Readable } from "node:stream";

import type { Claim } from "../client/claim.js";
import type { Idempotency } from "../client/idempotency.js";
import { TextEncoder } from "../host.js";
import { isBytes } from "../realms.js";
import { show } from "./claims.js";
import { type Admitted, Gate, type Idle } from "./gate.js";
import { grouped, headersOf, removeHeaders } from "./held.js";
import { type NodeRequest, type NodeResponse, headerOf, peek, statusOf } from "./node.js";
import { REPLAYED, type Reply, STORED, announced } from "./response.js";
import type { WebOptions } from "./settings.js";
import { Shield } from "./shield.js";
import { type WebStream, beginning, pieces, unstored } from "./streams.js";

export * from "./public.js";

const utf8 = new TextEncoder();

/** The members of a request of Fastify that the plugin uses. */
export interface FastifyRequest {
  readonly raw: NodeRequest;
  readonly method: string;
  readonly originalUrl: string;
}

/** The members of a reply of Fastify that the plugin uses. */
export interface FastifyReply {
  readonly raw: NodeResponse;
  statusCode: number;
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>;
  header(name: string, value: number | string | string[]): unknown;
  removeHeader(name: string): unknown;
  send(payload?: unknown): unknown;
}

/** The members of an instance of Fastify that the plugin uses. */
export interface FastifyInstance {
  addHook(name: string, hook: (...parameters: never[]) => unknown): unknown;
}

/** A plugin of Fastify. */
export type FastifyPlugin = (instance: FastifyInstance, options: object, done: (error?: Error) => void) => void;

/**
 * A request whose handler runs. If the handler responds without Fastify, the claim is left when the response closes.
 */
interface Running {
  readonly claim: Claim;
  readonly shield: Shield;
}

/**
 * A plugin that runs a request once for its key, and replays its response.
 *
 * A handler finds its claim by {@link claimOf}.
 *
 * @throws ConfigError for an option that is not valid.
 */
export function idempotent<R extends FastifyRequest>(
  operations: Idempotency,
  options: WebOptions<R>,
): FastifyPlugin & Idle {
  const gate = new Gate(operations, options);
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  const running = new WeakMap<FastifyRequest, Running>();
  const replies = new WeakMap<FastifyRequest, Reply>();
  const settling = new WeakSet<FastifyRequest>();

  async function preParsing(request: R, reply: FastifyReply, payload: unknown): Promise<unknown> {
    const entry = await gate.admit(request, {
      method: request.method,
      target: request.originalUrl,
      header: (name) => headerOf(request.raw, name),
      body: (most) => peek(request.raw, reply.raw, most),
    });
    if (!("is" in entry)) {
      admitted.set(request, entry);
    } else if (entry.is === "reply") {
      send(request, reply, entry.reply);
      return reply;
    }
    return payload;
  }

  async function preHandler(request: R, reply: FastifyReply): Promise<unknown> {
    const asked = admitted.get(request);
    if (asked === undefined) {
      return undefined;
    }
    // Fastify runs the hooks again if the handler calls its not-found handler: that handler has the same claim.
    admitted.delete(request);
    const entry = await gate.claim(request, asked);
    if (entry.is === "reply") {
      return send(request, reply, entry.reply);
    }
    const { claim } = entry;
    if (claim === null) {
      reply.header(STORED, "false");
    } else {
      show(request, claim);
      running.set(request, { claim, shield: new Shield(request.raw, reply.raw, () => void gate.leave(claim)) });
    }
    return undefined;
  }

  async function onSend(request: R, reply: FastifyReply, payload: unknown): Promise<unknown> {
    const own = replies.get(request);
    if (own !== undefined && reply.statusCode !== own.status) {
      // Another hook has failed, so this is the response to its error.
      reply.removeHeader(REPLAYED);
      return payload;
    }
    if (own !== undefined && !own.headers.some(([name]) => name === "content-type")) {
      // Fastify has added one.
      reply.removeHeader("content-type");
    }
    if (settling.has(request)) {
      // A second response, or an error after the first one, while the first is being stored. Without this plugin, the
      // first one would already be sent.
      return new Promise(() => undefined);
    }
    const { claim, shield } = running.get(request) ?? {};
    if (claim === undefined || shield === undefined) {
      return payload;
    }
    running.delete(request);
    settling.add(request);
    try {
      return await settle(claim, reply, payload);
    } catch (error) {
      // The body has failed while it was held back: Fastify responds with the error.
      await gate.leave(claim);
      throw error;
    } finally {
      settling.delete(request);
      shield.lift();
    }
  }

  async function settle(claim: Claim, reply: FastifyReply, payload: unknown): Promise<unknown> {
    const given = open(reply, payload);
    if (given === null) {
      await gate.leave(claim);
      return payload; // Fastify reports the error.
    }
    const headers = () => headersOf(reply.getHeaders());
    const status = statusOf(reply.raw);
    const before = copied(reply.getHeaders());
    const length = announced(reply.getHeaders()["content-length"]);
    const fits = length === null || gate.fits(status, headers(), length);
    const begun =
      "whole" in given
        ? given
        : given.comesInPieces && length === null
          ? pieces(given.stream)
          : await beginning(given.stream, fits ? length : 0);
    if (!("whole" in begun)) {
      if (gate.endOf(status) === "complete") {
        reply.header(STORED, "false");
      }
      const rest = unstored(begun, length, status, gate, claim);
      return Readable.fromWeb(rest as Parameters<typeof Readable.fromWeb>[0]);
    }
    // Fastify itself corrects the length of a body that is no stream.
    const lack = "stream" in given ? gate.lackOf(claim, status, length, begun.whole.length) : null;
    if (lack !== null) {
      throw lack;
    }
    const settled = await gate.settle(claim, { status, headers: headers(), body: begun.whole });
    reset(reply, status, before);
    // Fastify sends the length of a whole body, and a response with both headers is malformed.
    removeHeaders(reply, ["transfer-encoding"]);
    if (typeof settled === "object") {
      removeHeaders(reply, gate.replaced);
      put(reply, settled);
      return Buffer.from(settled.body);
    }
    if (settled === "not stored") {
      reply.header(STORED, "false");
    }
    return "stream" in given ? Buffer.from(begun.whole) : payload;
  }

  function send(request: R, reply: FastifyReply, answer: Reply): FastifyReply {
    replies.set(request, answer);
    put(reply, answer);
    reply.send(answer.body.length === 0 ? undefined : Buffer.from(answer.body));
    return reply;
  }

  const plugin: FastifyPlugin = (instance, _options, done) => {
    const onClose = () => gate.idle();
    for (const [name, hook] of Object.entries({ preParsing, preHandler, onSend, onClose })) {
      instance.addHook(name, hook);
    }
    done();
  };
  // The plugin has no separate scope: its hooks apply to the instance that registers it.
  return Object.assign(plugin, {
    [Symbol.for("skip-override")]: true,
    [Symbol.for("fastify.display-name")]: "fencepost",
    idle: (atMost?: number) => gate.idle(atMost),
  });
}

function put(reply: FastifyReply, { status, headers }: Reply): void {
  reply.statusCode = status;
  for (const [name, value] of grouped(headers)) {
    reply.header(name, value);
  }
}

type ReplyHeaders = ReturnType<FastifyReply["getHeaders"]>;

/** Copies the headers, because Fastify adds cookies to the array that it returned. */
function copied(headers: ReplyHeaders): ReplyHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? [...value] : value]),
  );
}

/** Undoes the changes that the handler made after it sent its response. */
function reset(reply: FastifyReply, status: number, headers: ReplyHeaders): void {
  reply.statusCode = status;
  const now = reply.getHeaders();
  for (const name of new Set([...Object.keys(now), ...Object.keys(headers)])) {
    const value = headers[name];
    if (now[name] !== value) {
      // `header` adds a cookie to the existing ones.
      reply.removeHeader(name);
      if (value !== undefined) {
        reply.header(name, value);
      }
    }
  }
}

/** A handler's payload: as bytes, as a web stream, or as one of Node.js, which comes in pieces unless its length is known. */
type Payload = { whole: Uint8Array } | { stream: WebStream; comesInPieces: boolean };

/** Opens a handler's payload; null if Fastify cannot send it. The head of a `Response` becomes that of the reply. */
function open(reply: FastifyReply, payload: unknown): Payload | null {
  if (payload === undefined || payload === null) {
    return { whole: new Uint8Array() };
  }
  if (typeof payload === "string") {
    return { whole: utf8.encode(payload) };
  }
  if (isBytes(payload)) {
    return { whole: payload };
  }
  if (typeof payload !== "object") {
    return null;
  }
  if (Object.prototype.toString.call(payload) === "[object Response]") {
    const { status, headers, body } = payload as FetchResponse;
    reply.statusCode = status;
    headers.forEach((value, name) => void reply.header(name, value));
    return body === null ? { whole: new Uint8Array() } : { stream: body, comesInPieces: false };
  }
  const stream = payload as WebStream | NodeStream;
  return { stream: "getReader" in stream ? stream : webStream(stream), comesInPieces: true };
}

/** The members of a `Response` that the plugin uses. */
interface FetchResponse {
  readonly status: number;
  readonly headers: { forEach(each: (value: string, name: string) => void): void };
  readonly body: WebStream | null;
}

/** A stream of Node.js. */
type NodeStream = AsyncIterable<Uint8Array | string>;

function webStream(stream: NodeStream): WebStream {
  const chunks = stream[Symbol.asyncIterator]();
  const reader = {
    async read() {
      const next = await chunks.next();
      if (next.done) {
        return { done: true };
      }
      return { done: false, value: typeof next.value === "string" ? utf8.encode(next.value) : next.value };
    },
    async cancel() {
      await chunks.return?.();
    },
  };
  return { getReader: () => reader };
}
