/**
 * Claims the operation of a request, or finds the response for a request that does not run. After the handler's
 * response it decides how the claim ends.
 *
 * @module
 */

import type { Claim } from "../client/claim.js";
import type { Idempotency } from "../client/idempotency.js";
import { type FencepostError, type InProgress, isOwn, shown, unreadable } from "../errors.js";
import { type Timer, clearTimeout, setTimeout } from "../host.js";
import { type Asked, bindingOf, fingerprints, partsOf, recordKey } from "./fingerprint.js";
import { KEY_HEADER, TOKEN_HEADER, keyOf, tokenIn, tokenKey, tokenOf } from "./key.js";
import { type Problem, problem, retryAfter } from "./problems.js";
import {
  type Header,
  type Reply,
  TAG,
  encoded,
  hasLength,
  headOf,
  isStatusAlone,
  replayOf,
  statusAlone,
} from "./response.js";
import { type End, type Settings, type WebOptions, checked, checkedTenant, endOf } from "./settings.js";
import { issueToken, tokenReply } from "./tokens.js";

/** A request, in the same form for all frameworks. */
export interface Incoming {
  readonly method: string;
  /** The target of the request line: path and query, as received. */
  readonly target: string;
  /** The value of a header. Those of several lines are joined by `, `. */
  header(name: string): string | undefined;
  /** The body as received; the handler can read it again. null if it is longer than `most` bytes. */
  body(most: number): Promise<Uint8Array | null>;
}

/** The parts of a request that has to be claimed. */
export interface Admitted {
  readonly method: string;
  readonly route: string;
  readonly query: string;
  readonly body: Uint8Array;
  readonly name: { readonly key: string } | { readonly token: string } | "new token";
}

/**
 * The decision about a request. `run` with null: the handler runs without protection, because the store is unavailable.
 */
export type Entry =
  | { readonly is: "pass" }
  | { readonly is: "reply"; readonly reply: Reply }
  | { readonly is: "run"; readonly claim: Claim | null };

/**
 * The response to the client: the handler's response as it is, or with the note that it is not stored, or another one.
 */
export type Settled = "as it is" | "not stored" | Reply;

/** A middleware that can wait for its handlers. */
export interface Idle {
  /**
   * Waits until no handler with a claim is running, for at most `atMost` ms (by default 30 s). Returns whether that is
   * so. A handler continues after its client has hung up, and then no connection shows that it is running. So wait for
   * this before you close the client of the claims.
   */
  idle(atMost?: number): Promise<boolean>;
}

/** How long {@link Idle.idle} waits by default, in ms. */
const IDLE_WITHIN = 30_000;

/** The requests that a middleware covers. A second middleware for the same handler must not wait for the first one. */
const covered = new WeakSet<object>();

const PASS = { is: "pass" } as const;
const TOO_LARGE = { is: "reply", reply: problem("body-too-large") } as const;

/** The problem for each code of a refusal. */
const REFUSALS: Readonly<Record<number, Problem>> = {
  301: "in-progress",
  302: "in-progress",
  317: "in-progress",
  318: "mismatch",
  319: "indeterminate",
  320: "unknown-token",
  321: "corrupt-record",
};

/** The middleware without its framework. */
export class Gate<R extends object> {
  readonly #operations: Idempotency;
  readonly #settings: Settings<R>;
  readonly #fingerprint: ReturnType<typeof fingerprints>;
  /** The functions for older secrets. */
  readonly #older: readonly ReturnType<typeof fingerprints>[];
  /**
   * The claims of the handlers that run, with the requests' methods. It is weak: the client leaves a claim that no
   * handler refers to any more.
   */
  readonly #running = new WeakMap<Claim, string>();
  #count = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(operations: Idempotency, options: WebOptions<R>) {
    if (typeof (operations as Partial<Idempotency> | null | undefined)?.claim !== "function") {
      throw unreadable("the arguments of the middleware are the result of client.idempotency(scope), and the options");
    }
    this.#operations = operations;
    this.#settings = checked(options);
    this.#fingerprint = fingerprints(this.#settings.secret);
    this.#older = this.#settings.olderSecrets.map(fingerprints);
  }

  /** The headers of the handler's response that a replay replaces. */
  get replaced(): readonly string[] {
    return [...this.#settings.names, "content-length", "transfer-encoding"];
  }

  /** Decides about a request, and claims it if necessary. */
  async enter(request: R, incoming: Incoming): Promise<Entry> {
    const admitted = await this.admit(request, incoming);
    return "is" in admitted ? admitted : this.claim(request, admitted);
  }

  /** Decides whether a request has to be claimed, and reads its body if so. */
  async admit(request: R, incoming: Incoming): Promise<Admitted | Exclude<Entry, { is: "run" }>> {
    const { methods, covers, required, maxBody, tokens, tokenPath } = this.#settings;
    const { method } = incoming;
    const asked = { method, ...partsOf(incoming.target) };
    if (tokenPath !== null && method === "POST" && asked.route === tokenPath) {
      return { ...asked, body: new Uint8Array(), name: "new token" };
    }
    if (covered.has(request) || !methods.has(method) || !(await covers(request))) {
      return PASS;
    }
    let body: Uint8Array | null | undefined;
    let token = tokens ? incoming.header(TOKEN_HEADER) : undefined;
    if (tokens && token === undefined && isForm(incoming.header("content-type"))) {
      body = await incoming.body(maxBody);
      if (body === null) {
        return TOO_LARGE;
      }
      token = tokenIn(body) ?? undefined;
    }
    const name = token === undefined ? keyed(incoming.header(KEY_HEADER), required) : tokened(token);
    if ("is" in name) {
      return name;
    }
    body ??= await incoming.body(maxBody);
    if (body === null) {
      return TOO_LARGE;
    }
    covered.add(request);
    return { ...asked, body, name };
  }

  /** Claims a request. */
  async claim(request: R, { name, ...asked }: Admitted): Promise<Exclude<Entry, { is: "pass" }>> {
    const tenant = checkedTenant(await this.#settings.scope(request));
    let claim: Claim;
    try {
      if (name === "new token") {
        return { is: "reply", reply: tokenReply(await issueToken(this.#operations, tenant)) };
      }
      claim = await this.#claim(tenant, name, asked);
    } catch (error) {
      return this.#refused(error, name);
    }
    if (claim.replayed) {
      return { is: "reply", reply: this.#replayed(claim, asked.method) };
    }
    this.#running.set(claim, asked.method);
    this.#count += 1;
    return { is: "run", claim };
  }

  /** How a response ends the claim. */
  endOf(status: number): End {
    return endOf(status, this.#settings.ends);
  }

  /** Whether a response with a body of so many bytes can be stored. */
  fits(status: number, headers: Iterable<Header>, size: number): boolean {
    const { names, maxResult } = this.#settings;
    return headOf(status, headers, names).length + size <= maxResult;
  }

  /** The error of a body that ends after so many bytes, if `Content-Length` has announced more of them. */
  lackOf(claim: Claim, status: number, announced: number | null, size: number): Error | null {
    if (announced === null || size >= announced || !hasLength(status) || this.#running.get(claim) === "HEAD") {
      return null;
    }
    return new Error(`the response body ended after ${size} of the ${announced} bytes that Content-Length announced`);
  }

  /**
   * Ends a claim after the handler's response: in the way `end`, which by default depends on the status. `body` null:
   * the body is not stored.
   */
  async settle(
    claim: Claim,
    response: { status: number; headers: Iterable<Header>; body: Uint8Array | null },
    end = this.endOf(response.status),
  ): Promise<Settled> {
    try {
      if (end !== "complete") {
        await claim[end]();
        return "as it is";
      }
      const form = this.#formOf(response);
      await claim.complete(form, { tag: TAG });
      const method = this.#running.get(claim) ?? "";
      return claim.replayed ? this.#replayed(claim, method) : isStatusAlone(form) ? "not stored" : "as it is";
    } catch (error) {
      if (!isOwn(error)) {
        throw error;
      }
      if (error.kind === "not-held") {
        return "as it is"; // The handler has ended the claim itself.
      }
      this.report(end === "complete" ? "a response was not stored" : "a claim was not ended", error);
      return end === "complete" ? "not stored" : "as it is";
    } finally {
      await this.leave(claim);
    }
  }

  /** Leaves a claim, unless it has ended. */
  async leave(claim: Claim): Promise<void> {
    await claim[Symbol.asyncDispose]().catch((error: unknown) => this.report("a claim was not ended", error));
    if (this.#running.delete(claim)) {
      this.#count -= 1;
      if (this.#count === 0) {
        for (const resolve of this.#waiting.splice(0)) {
          resolve();
        }
      }
    }
  }

  /** As {@link Idle.idle}. */
  async idle(atMost = IDLE_WITHIN): Promise<boolean> {
    if (this.#count > 0) {
      let timer: Timer | undefined;
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        timer = setTimeout(resolve, atMost);
      });
      clearTimeout(timer);
    }
    return this.#count === 0;
  }

  /** Calls the program's function for an error that the client of a request does not see. */
  report(what: string, error: unknown): void {
    try {
      this.#settings.onFailure(what, error);
    } catch (failure) {
      // The request must not fail because its failure cannot be logged.
      console.error(failure);
    }
  }

  /** Claims with the present secret, and after a mismatch with older ones. */
  async #claim(tenant: string, name: Exclude<Admitted["name"], string>, asked: Asked): Promise<Claim> {
    const { wait } = this.#settings;
    const waiting = wait === null ? { wait: false } : { timeout: wait };
    const claimed = async (fingerprint: Uint8Array) => {
      const options = { ...waiting, fingerprint };
      return "token" in name
        ? this.#operations.consume(tokenKey(name.token), { ...options, binding: await bindingOf(tenant) })
        : this.#operations.claim(await recordKey(tenant, name.key), options);
    };
    const older = this.#older.values();
    let fingerprint = this.#fingerprint;
    for (;;) {
      try {
        return await claimed(await fingerprint(asked));
      } catch (error) {
        const next = older.next();
        if (!(isOwn(error) && error.kind === "mismatch") || next.done) {
          throw error;
        }
        fingerprint = next.value;
      }
    }
  }

  #formOf({ status, headers, body }: { status: number; headers: Iterable<Header>; body: Uint8Array | null }) {
    const { names, maxResult } = this.#settings;
    return body === null ? statusAlone(status) : encoded({ status, headers: [...headers], body }, names, maxResult);
  }

  #refused(error: unknown, name: Admitted["name"]): Exclude<Entry, { is: "pass" }> {
    if (!isOwn(error) || !deniesClaim(error)) {
      throw error;
    }
    const known = REFUSALS[error.code];
    if (known === "in-progress") {
      const { retryAfter: rest = null } = error as Partial<InProgress>;
      return { is: "reply", reply: problem(known, ["retry-after", String(retryAfter(rest))]) };
    }
    if (known === undefined && this.#settings.failOpen && name !== "new token") {
      this.report("the handler runs without a claim", error);
      return { is: "run", claim: null };
    }
    if (known === undefined) {
      this.report(name === "new token" ? "no token was issued" : "a request was refused", error);
    }
    return { is: "reply", reply: problem(known ?? "store-unavailable") };
  }

  #replayed({ tag, result }: Claim, method: string): Reply {
    const reply = tag === TAG && result !== null ? replayOf(result, method) : null;
    if (reply === null) {
      this.report("a stored response cannot be replayed", new Error(`it is not a response: its tag is ${shown(tag)}`));
    }
    return reply ?? problem("corrupt-record");
  }
}

/** Whether an error is a refusal or a loss, by its number. */
function deniesClaim({ code }: FencepostError): boolean {
  return code >= 300 && code < 500;
}

type Named = Exclude<Admitted["name"], string> | Exclude<Entry, { is: "run" }>;

function keyed(value: string | undefined, required: boolean): Named {
  if (value === undefined) {
    return required ? { is: "reply", reply: problem("key-missing") } : PASS;
  }
  const key = keyOf(value);
  return key === null ? { is: "reply", reply: problem("key-malformed") } : { key };
}

function tokened(value: string): Named {
  const token = tokenOf(value);
  return token === null ? { is: "reply", reply: problem("unknown-token") } : { token };
}

function isForm(type: string | undefined): boolean {
  return type?.split(";", 1)[0]?.trim().toLowerCase() === "application/x-www-form-urlencoded";
}
