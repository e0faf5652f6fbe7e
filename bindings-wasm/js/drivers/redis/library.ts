/**
 * What the driver needs of a Redis client library.
 *
 * @module
 */

import type { Failure, RedisValue } from "../../hub/hub.js";
import type { Argument } from "../../hub/arguments.js";

/** What an error of the library says about its command: the server's own answer, or that there was none. */
export type Judged = { readonly reply: Error } | { readonly failure: Failure };

/** Arguments for a library that knows texts and Buffers. They are nearly always all texts: nothing is copied then. */
export function binary(parameters: readonly Argument[]): readonly (string | Buffer)[] {
  return parameters.every(isText) ? parameters : parameters.map(bytes);
}

/** One argument for such a library. */
export function bytes(argument: Argument): string | Buffer {
  return isText(argument) ? argument : Buffer.from(argument.buffer, argument.byteOffset, argument.byteLength);
}

function isText(argument: Argument): argument is string {
  return typeof argument === "string";
}

/** One connection. */
export interface Session {
  /** Whether a command would go out now. */
  readonly ready: boolean;
  /** Sends one command. Rejects with an error that the library judges. */
  call(parameters: readonly Argument[]): Promise<RedisValue>;
  /** Resolves when the server has confirmed the subscription. */
  subscribe(channel: Argument, message: () => void): Promise<unknown>;
  unsubscribe(channel: Argument): Promise<unknown>;
  /** Ends the connection at once. */
  end(): void;
}

/** A connection that is being made. */
export interface Opening {
  readonly session: Promise<Session>;
  /** Gives it up. */
  end(): void;
}

/** Makes connections with one library. They do not reconnect by themselves, and keep no process alive. */
export interface Library {
  /** Opens a connection of our own; `gone` is called once when it has ended after that. */
  open(gone: () => void): Opening;
  judge(error: unknown): Judged;
}

/** The connection that the caller has. */
export interface Borrowed {
  readonly ready: boolean;
  /** What to answer a command with while it is not ready. */
  readonly trouble: { readonly error: Error } & Judged;
  call(parameters: readonly Argument[]): Promise<RedisValue>;
  /** Removes our listeners. */
  end(): void;
}

/** An error that stands for a failure of ours, not the library's. */
export class Unsent extends Error {
  override readonly name = "Unsent";
  readonly judged: Judged;

  constructor(message: string, judged: Judged, options?: ErrorOptions) {
    super(message, options);
    this.judged = judged;
  }
}

/** Errors with which a server refuses a client before it listens to commands: they are answers, to every command. */
const REFUSALS = ["WRONGPASS", "NOAUTH", "NOPERM", "DENIED", "ERR"];

/** Whether an error is a server's answer to the connection itself. */
export function isRefusal(error: Error): boolean {
  return REFUSALS.some((code) => error.message.startsWith(`${code} `));
}

/** What Node says of certificates, by OpenSSL's names and its own, and of servers that speak no TLS. */
const DISTRUST =
  /^(CERT_|ERROR_IN_CERT|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|INVALID_(CA|PURPOSE)|PATH_LENGTH|HOSTNAME_|ERR_TLS_CERT|ERR_SSL_)/;

/** Whether a server has shown, or speaks, what it must not. It would again. */
export function isDistrust(error: unknown): error is Error {
  return error instanceof Error && "code" in error && typeof error.code === "string" && DISTRUST.test(error.code);
}

interface Host {
  getBuiltinModule?(name: "node:events"): { readonly errorMonitor: symbol } | undefined;
}

/** The event that tells of errors without handling them: whether somebody handles them remains the caller's affair. */
export const errorMonitor: symbol =
  (globalThis as { process?: Host }).process?.getBuiltinModule?.("node:events")?.errorMonitor ?? Symbol("none");
