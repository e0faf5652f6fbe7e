/**
 * The settings of the middleware.
 *
 * @module
 */

import { type Bytes, LONGEST_RESULT, bytesOf } from "../client/bytes.js";
import { optionalFlag, optionalMillis, required } from "../client/options.js";
import { ConfigError, shown, unreadable } from "../errors.js";
import { TextEncoder } from "../host.js";
import { checkedText } from "../hub/settings.js";
import { bytesOfLine, lineOfBytes } from "./bytes.js";
import { NEVER_STORED, STORED_HEADERS, isName } from "./response.js";

/** How a response ends a claim: as the result, as "nothing has happened", or as "the outcome is not known". */
export type End = "complete" | "release" | "leave";

/**
 * Options of the middleware. `R` is the framework's type of a request. The reference of the HTTP format describes each
 * option in more detail.
 */
export interface WebOptions<R> {
  /**
   * Returns the tenant or session that owns the keys: a text that is not empty. No tenant gets the response of another
   * one.
   */
  readonly scope: (request: R) => string | PromiseLike<string>;
  /**
   * The key of the fingerprints, of at least 16 bytes: the same on all servers that replay each other's responses. An
   * array has the present secret first, and then older ones, which are still accepted.
   */
  readonly secret: Bytes | readonly Bytes[];
  /** The methods that are covered. Default: `POST` and `PATCH`. Other requests pass through. */
  readonly methods?: readonly string[] | undefined;
  /** Whether a request is covered, besides its method. Its body has not been read yet. Default: every request. */
  readonly covers?: ((request: R) => boolean | PromiseLike<boolean>) | undefined;
  /** Whether a covered request without a key is refused. Default: `true`; otherwise it passes through. */
  readonly required?: boolean | undefined;
  /** How long a request waits for another one with the same key, in ms. Default: it does not wait. */
  readonly wait?: number | undefined;
  /** The largest body of a request, in bytes. Default: 1 MiB. */
  readonly maxBody?: number | undefined;
  /** The largest result that is stored, in bytes: 1,000,000 at most. Default: 256 KiB. */
  readonly maxResult?: number | undefined;
  /** Exceptions from the way in which a status ends a claim by default: `{ 404: "release" }`, for example. */
  readonly ends?: Readonly<Record<number, End>> | undefined;
  /** Names of response headers that are stored besides the usual ones. */
  readonly storedHeaders?: readonly string[] | undefined;
  /** Whether the handler runs without protection if the store is unavailable. Default: `false`, the response is 503. */
  readonly failOpen?: boolean | undefined;
  /** Whether form tokens are accepted. Default: `false`. */
  readonly tokens?: boolean | undefined;
  /** The path at which a `POST` gets a form token. Default: none. It needs `tokens`. */
  readonly tokenPath?: string | undefined;
  /**
   * Called with each error that the client of a request does not see, such as the reason why the store is unavailable.
   * `what` describes the effect on the request. Default: `console.warn`.
   */
  readonly onFailure?: ((what: string, error: unknown) => void) | undefined;
}

/** The checked options. */
export interface Settings<R> {
  readonly scope: (request: R) => unknown;
  readonly secret: Uint8Array;
  readonly olderSecrets: readonly Uint8Array[];
  readonly methods: ReadonlySet<string>;
  readonly covers: (request: R) => unknown;
  readonly required: boolean;
  readonly wait: number | null;
  readonly maxBody: number;
  readonly maxResult: number;
  readonly ends: ReadonlyMap<number, End>;
  readonly names: ReadonlySet<string>;
  readonly failOpen: boolean;
  readonly tokens: boolean;
  readonly tokenPath: string | null;
  readonly onFailure: (what: string, error: unknown) => void;
}

const OPTIONS = [
  ...["scope", "secret", "methods", "covers", "required", "wait", "maxBody", "maxResult", "ends", "storedHeaders"],
  ...["failOpen", "tokens", "tokenPath", "onFailure"],
];
const LEAST_SECRET = 16;
const ENDS: readonly unknown[] = ["complete", "release", "leave"];
const RELEASING: readonly number[] = [307, 308, 401, 403, 409, 425, 429];
/**
 * The server has the whole request before the handler runs. So with this status, a timeout has ended the handler
 * midway.
 */
const REQUEST_TIMEOUT = 408;

/** Checks the program's options. */
export function checked<R>(options: WebOptions<R>): Settings<R> {
  required(options, ...OPTIONS);
  const [secret, ...olderSecrets] = secretsOf(options.secret);
  if (secret === undefined) {
    throw invalid("secret", "is an empty array: give it the present secret, and then older ones");
  }
  const tokens = optionalFlag("tokens", options.tokens) ?? false;
  const wait = optionalMillis("wait", options.wait);
  if (wait !== null && !(wait > 0)) {
    throw invalid("wait", `is ${wait}: give it more than 0 ms, or leave it out, so that a request does not wait`);
  }
  return {
    scope: aFunction("scope", options.scope),
    secret,
    olderSecrets,
    methods: methodsOf(options.methods ?? ["POST", "PATCH"]),
    covers: aFunction("covers", options.covers ?? (() => true)),
    required: optionalFlag("required", options.required) ?? true,
    wait,
    maxBody: size("maxBody", options.maxBody ?? 1024 * 1024, Number.MAX_SAFE_INTEGER),
    maxResult: size("maxResult", options.maxResult ?? 256 * 1024, LONGEST_RESULT),
    ends: endsOf(options.ends ?? {}),
    names: namesOf(options.storedHeaders ?? []),
    failOpen: optionalFlag("failOpen", options.failOpen) ?? false,
    tokens,
    tokenPath: tokenPathOf(options.tokenPath, tokens),
    onFailure: aFunction("onFailure", options.onFailure ?? warn, "it has to be a function of a text and an error"),
  };
}

/** How a response with this status ends the claim. `ends` are the program's exceptions. */
export function endOf(status: number, ends: ReadonlyMap<number, End>): End {
  const given = ends.get(status);
  if (given !== undefined) {
    return given;
  }
  if (status < 200 || status >= 500 || status === REQUEST_TIMEOUT) {
    return "leave";
  }
  return RELEASING.includes(status) ? "release" : "complete";
}

/** The names of the headers that are stored. `more` has the program's additional names. */
export function namesOf(more: readonly string[]): ReadonlySet<string> {
  const own = texts("storedHeaders", more, "the name of a header");
  for (const name of own) {
    if (!isName(name) || NEVER_STORED.includes(name.toLowerCase())) {
      const why = isName(name) ? "belongs to one response, and is never stored" : "is not the name of a header";
      throw invalid("storedHeaders", `has ${shown(name)}, which ${why}: remove it`);
    }
  }
  return new Set([...STORED_HEADERS, ...own.map((name) => name.toLowerCase())]);
}

/** Checks the methods. With `post` instead of `POST`, requests with `POST` would run without protection. */
function methodsOf(given: readonly string[]): ReadonlySet<string> {
  const methods = texts("methods", given, "a method");
  for (const method of methods) {
    if (!isName(method) || method !== method.toUpperCase()) {
      const remedy = isName(method) ? `give it ${shown(method.toUpperCase())}` : 'give it names such as "POST"';
      throw invalid("methods", `has ${shown(method)}: ${remedy}`);
    }
  }
  return new Set(methods);
}

/** Checks the program's exceptions. */
export function endsOf(ends: Readonly<Record<number, End>>): ReadonlyMap<number, End> {
  if (typeof (ends as unknown) !== "object") {
    throw unreadable(`ends is ${shown(ends)}: it has to be an object, such as { 404: "release" }`);
  }
  const all = new Map<number, End>();
  for (const [text, end] of Object.entries(ends)) {
    const status = Number(text);
    if (!Number.isInteger(status) || status < 200 || status > 599 || !ENDS.includes(end)) {
      const may = 'give it statuses from 200 to 599, each with "complete", "release" or "leave"';
      throw invalid("ends", `has ${shown(text)}: ${shown(end)}: ${may}`);
    }
    all.set(status, end);
  }
  return all;
}

/** Checks the tenant that the program's function returned. */
export function checkedTenant(tenant: unknown): string {
  if (typeof tenant !== "string" || tenant === "") {
    throw invalid("scope", `has returned ${shown(tenant)}: it has to return a text that is not empty`);
  }
  return checkedText("scope", tenant);
}

function secretsOf(given: Bytes | readonly Bytes[]): readonly Uint8Array[] {
  const all = (Array.isArray(given) ? given : [given]) as readonly Bytes[];
  return all.map((one) => {
    const secret = bytesOf("secret", one);
    if (secret.length < LEAST_SECRET) {
      throw invalid("secret", `has ${secret.length} bytes: give it ${LEAST_SECRET} at least`);
    }
    return secret;
  });
}

function tokenPathOf(path: unknown, tokens: boolean): string | null {
  if (path === undefined) {
    return null;
  }
  if (typeof path !== "string" || !path.startsWith("/")) {
    throw invalid("tokenPath", `is ${shown(path)}: it has to be a path, such as "/form-token"`);
  }
  if (!tokens) {
    throw invalid("tokenPath", `is ${shown(path)}, and form tokens are not accepted: set tokens to true`);
  }
  // Routes have one character for each byte.
  return lineOfBytes(new TextEncoder().encode(checkedText("tokenPath", path)));
}

function warn(what: string, error: unknown): void {
  console.warn(`fencepost: ${what}:`, error);
}

function aFunction<F>(what: string, value: F, must = "it has to be a function of the request"): F {
  if (typeof value !== "function") {
    throw unreadable(`${what} is ${shown(value)}: ${must}`);
  }
  return value;
}

function texts(what: string, value: readonly string[], each: string): readonly string[] {
  const all: unknown = value;
  if (!Array.isArray(all) || !all.every((one) => typeof one === "string" && bytesOfLine(one).length === one.length)) {
    throw unreadable(`${what} is ${shown(value)}: it has to be an array, and each of its texts ${each}`);
  }
  return all as string[];
}

function size(what: string, value: number, most: number): number {
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw invalid(what, `is ${shown(value)}: it has to be a whole number of bytes, from 1 to ${most}`);
  }
  return value;
}

function invalid(option: string, text: string): ConfigError {
  return new ConfigError(110, "invalid-option", `${option} ${text}`);
}
