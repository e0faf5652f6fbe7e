/**
 * The middleware for Hono, on Node.js, Deno, Bun and in workers.
 *
 * ```ts
 * const payments = client.idempotency("payments");
 * app.use("/payments/*", idempotent<Context<Env>>(payments, { scope: (c) => c.get("user"), secret }));
 * ```
 *
 * It has to come before middleware that reads the body of a request. Middleware that changes the body of responses,
 * such as `compress`, has to come before this one.
 *
 * @module fencepost/web/hono
 */

import type { Claim } from "../client/claim.js";
import type { Idempotency } from "../client/idempotency.js";
import { unreadable } from "../errors.js";
import { isBytes } from "../realms.js";
import { show } from "./claims.js";
import { Gate, type Idle } from "./gate.js";
import { type Reply, STORED, announced } from "./response.js";
import type { WebOptions } from "./settings.js";
import { beginning, readAll, unstored } from "./streams.js";

export * from "./public.js";

/** The members of a context of Hono that the middleware uses. */
export interface HonoContext {
  readonly req: {
    raw: Request;
    readonly url: string;
    readonly bodyCache: object;
    arrayBuffer(): Promise<ArrayBuffer>;
  };
  readonly env?: unknown;
  readonly executionCtx: { waitUntil(work: Promise<unknown>): void };
  readonly finalized: boolean;
  get res(): Response;
  set res(response: Response | undefined);
  header(name: string, value?: string): void;
}

/** Responses with these statuses cannot have a body. */
const BODILESS = [204, 205, 304];
/** The only one of them whose length is sent. */
const RESET_CONTENT = 205;

/**
 * A middleware that runs a request once for its key, and replays its response.
 *
 * A handler finds its claim by {@link claimOf}.
 *
 * @throws ConfigError for an option that is not valid.
 */
export function idempotent<C extends HonoContext>(
  operations: Idempotency,
  options: WebOptions<C>,
): ((c: C, next: () => Promise<void>) => Promise<Response | undefined>) & Idle {
  const gate = new Gate(operations, options);

  async function run(c: C, next: () => Promise<void>, claim: Claim): Promise<void> {
    show(c, claim);
    try {
      await next();
      await settle(c, claim);
    } catch (error) {
      await gate.leave(claim);
      throw error;
    }
  }

  /** Ends the claim as the response says, or when the handler has written it itself. */
  async function settle(c: C, claim: Claim): Promise<void> {
    if (!c.finalized) {
      // The handler has returned nothing. Hono reports this, unless the middleware reads the missing response.
      await gate.leave(claim);
      return;
    }
    if (isWritten(c)) {
      void written(c).then(() => gate.leave(claim));
      return;
    }
    try {
      await store(c, claim);
    } catch (error) {
      withdraw(c, gate.replaced);
      throw error;
    }
  }

  /** Stores the response, and exchanges it for the one that the client gets. */
  async function store(c: C, claim: Claim): Promise<void> {
    const { status, headers, body } = c.res;
    const length = announced(headers.get("content-length") ?? undefined);
    const fits = length === null || gate.fits(status, headers, length);
    const begun = body === null ? { whole: new Uint8Array() } : await beginning(body, fits ? length : 0);
    if ("whole" in begun) {
      const lack = gate.lackOf(claim, status, length, begun.whole.length);
      if (lack !== null) {
        throw lack;
      }
      const settled = await gate.settle(claim, { status, headers, body: begun.whole });
      if (typeof settled === "object") {
        const other = replaced(c.res, gate.replaced, settled);
        exchange(c, settled.body, other);
      } else {
        exchange(c, begun.whole, c.res, settled === "not stored");
      }
      return;
    }
    const rest = unstored(begun, length, status, gate, claim);
    exchange(c, rest, c.res, gate.endOf(status) === "complete");
  }

  const middleware = async (c: C, next: () => Promise<void>): Promise<Response | undefined> => {
    const { raw } = c.req;
    const entry = await gate.enter(c, {
      method: raw.method,
      target: targetOf(c),
      header: (name) => raw.headers.get(name) ?? undefined,
      body: (most) => bodyOf(c, most),
    });
    if (entry.is === "reply") {
      const { status, headers, body } = entry.reply;
      return made(body, { status, headers: new Headers(headers.map(([...pair]) => pair)) });
    }
    if (entry.is === "run" && entry.claim !== null) {
      const work = run(c, next, entry.claim);
      outlive(c, work);
      await work;
      return undefined;
    }
    await next();
    if (entry.is === "run" && !isWritten(c)) {
      c.header(STORED, "false");
    }
    return undefined;
  };
  return Object.assign(middleware, { idle: (atMost?: number) => gate.idle(atMost) });
}

/** Path and query: as received, if the server provides them. Otherwise from the URL, which has no dot segments. */
function targetOf({ env, req }: HonoContext): string {
  const { incoming } = (env ?? {}) as { readonly incoming?: { readonly url?: unknown } };
  return typeof incoming?.url === "string" ? incoming.url : req.url;
}

/**
 * Reads a request's body. The handler gets a new request with that body, and does not notice if its client hangs up.
 */
async function bodyOf({ req }: HonoContext, most: number): Promise<Uint8Array | null> {
  const { raw } = req;
  if ((announced(raw.headers.get("content-length") ?? undefined) ?? 0) > most) {
    return null;
  }
  if (raw.bodyUsed) {
    if (!("arrayBuffer" in req.bodyCache || "text" in req.bodyCache)) {
      throw unreadable("the request's body has been read: put this middleware before what reads it");
    }
    const read = new Uint8Array(await req.arrayBuffer());
    return read.length > most ? null : read;
  }
  const body = raw.body === null ? new Uint8Array() : await readAll(raw.body, most);
  if (body !== null) {
    // In a worker, a request also has Cloudflare's properties of it.
    const { method, headers, url, cf } = raw as Request & { readonly cf?: unknown };
    const init = { method, headers, ...(body.length > 0 && { body }), ...(cf !== undefined && { cf }) };
    req.raw = new Request(url, init);
  }
  return body;
}

/** The header by which `@hono/node-server` knows that the handler writes its response itself (`RESPONSE_ALREADY_SENT`). */
const WRITTEN = "x-hono-already-sent";

/** Whether the handler writes its response itself. If another response replaced this one, it would be sent, too. */
function isWritten(c: HonoContext): boolean {
  return c.finalized && c.res.headers.has(WRITTEN);
}

/**
 * Resolves at the end of a response that the handler writes itself; at once if the server does not provide the
 * response.
 */
function written({ env }: HonoContext): Promise<void> {
  const { outgoing } = (env ?? {}) as { readonly outgoing?: Outgoing };
  return new Promise((resolve) => {
    if (outgoing === undefined || (outgoing.closed ?? outgoing.stream?.closed ?? true)) {
      resolve();
    } else {
      outgoing.once("close", resolve);
    }
  });
}

/** The members of a response of Node.js that the middleware uses. In HTTP/2, its stream has the property `closed`. */
interface Outgoing {
  readonly closed?: boolean;
  readonly stream?: { readonly closed: boolean };
  once(event: "close", listener: () => void): unknown;
}

/** Sends another body, with the status and headers of a response. */
function exchange(c: HonoContext, body: Uint8Array | ReadableStream, from: Response, notStored = false): void {
  const { status, statusText, headers } = from;
  // A copy, because the headers of a response from `fetch` cannot change.
  const other = made(body, { status, statusText, headers: new Headers(headers) });
  if (isBytes(body)) {
    // Servers send the length of a whole body, and a response with both headers is malformed.
    other.headers.delete("transfer-encoding");
  }
  if (notStored) {
    other.headers.set(STORED, "false");
  }
  replace(c, other);
}

/** Sets another response. */
function replace(c: HonoContext, other: Response): void {
  // Otherwise Hono would copy the headers of the present response.
  c.res = undefined;
  c.res = other;
}

/**
 * A response, without its body if its status cannot have one. Servers in other languages store a body even with status
 * 205.
 */
function made(
  body: Uint8Array | ReadableStream,
  head: { readonly status: number; readonly statusText?: string; readonly headers: Headers },
): Response {
  if (!BODILESS.includes(head.status)) {
    return new Response(body, head);
  }
  const response = new Response(null, head);
  if (head.status === RESET_CONTENT && response.headers.has("content-length")) {
    response.headers.set("content-length", "0");
  }
  return response;
}

/**
 * Takes back a response whose body has failed. Hono adds the headers of the present response to that of the error, and
 * those that describe the body would be wrong there.
 */
function withdraw(c: HonoContext, names: readonly string[]): void {
  replace(c, new Response(null, { headers: without(c.res.headers, names) }));
}

/** A copy of headers, without those of these names. */
function without(headers: Headers, names: readonly string[]): Headers {
  const others = new Headers(headers);
  for (const name of names) {
    others.delete(name);
  }
  return others;
}

/** A response of another attempt, with the headers of this one that are not stored. */
function replaced(response: Response, names: readonly string[], { status, headers }: Reply): Response {
  const all = without(response.headers, names);
  for (const [name, value] of headers) {
    all.append(name, value);
  }
  return new Response(null, { status, headers: all });
}

/** In a worker, work ends with its request, unless the program asks the runtime to wait for it. */
function outlive(c: HonoContext, work: Promise<unknown>): void {
  let context: HonoContext["executionCtx"];
  try {
    context = c.executionCtx;
  } catch {
    return;
  }
  context.waitUntil(work.catch(() => undefined));
}
