/**
 * The interface between the driver and a Redis client library.
 *
 * @module
 */

import type { Failure, RedisValue } from "../../hub/hub.js";
import type { Argument } from "../../hub/arguments.js";
import { isError } from "../../realms.js";

/** The meaning of a library's error for its command: an error reply of the server, or a failure. */
export type Classified = { readonly reply: Error } | { readonly failure: Failure };

/**
 * Converts arguments for a library that accepts strings and Buffers. They are nearly always strings, and then nothing
 * is copied.
 */
export function binary(parameters: readonly Argument[]): readonly (string | Buffer)[] {
  return parameters.every(isText) ? parameters : parameters.map(bytes);
}

/** Converts one argument. */
export function bytes(argument: Argument): string | Buffer {
  return isText(argument) ? argument : Buffer.from(argument.buffer, argument.byteOffset, argument.byteLength);
}

function isText(argument: Argument): argument is string {
  return typeof argument === "string";
}

/** One connection. */
export interface Session {
  /** Whether a command would be sent now. */
  readonly ready: boolean;
  /** Sends one command. If it rejects, the library classifies the error. */
  call(parameters: readonly Argument[]): Promise<RedisValue>;
  /** Resolves when the server has confirmed the subscription. */
  subscribe(channel: Argument, message: () => void): Promise<unknown>;
  unsubscribe(channel: Argument): Promise<unknown>;
  /** Ends the connection at once. */
  end(): void;
}

/** The state of a connection that is being opened. */
export interface Progress {
  /** Whether a server has accepted it; with TLS, whether it has also answered the handshake. */
  accepted: boolean;
  /** The library's last error. */
  error: unknown;
}

/** A connection that is being opened. */
export interface Opening {
  readonly session: Promise<Session>;
  readonly progress: Readonly<Progress>;
  /** Stops opening it. */
  end(): void;
}

/** Makes connections with one library. They do not reconnect by themselves, and do not keep the process alive. */
export interface Library {
  /** Opens a connection for the driver. `gone` is called once, when the open connection ends. */
  open(gone: () => void): Opening;
  classifyError(error: unknown): Classified;
}

/** A connection of the program. */
export interface Borrowed {
  readonly ready: boolean;
  /** The failure of a command while the connection is not ready. */
  readonly trouble: { readonly error: Error } & Classified;
  call(parameters: readonly Argument[]): Promise<RedisValue>;
  /** Removes the driver's listeners. */
  end(): void;
}

/** An error that the driver made itself. */
export class Unsent extends Error {
  override readonly name = "Unsent";
  readonly classified: Classified;

  constructor(message: string, classified: Classified, options?: ErrorOptions) {
    super(message, options);
    this.classified = classified;
  }
}

/** Errors with which a server refuses a client before it accepts commands. It replies to every command with them. */
const REFUSALS = ["WRONGPASS", "NOAUTH", "NOPERM", "DENIED", "ERR"];

/** Whether the server refuses the connection itself with this error. */
export function isRefusal(error: Error): boolean {
  return REFUSALS.some((code) => error.message.startsWith(`${code} `));
}

/** The errors of Node for certificates, with OpenSSL's names and its own, and for servers without TLS. */
const DISTRUST =
  /^(CERT_|ERROR_IN_CERT|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|INVALID_(CA|PURPOSE)|PATH_LENGTH|HOSTNAME_|ERR_TLS_CERT|ERR_SSL_)/;

/** Whether a server's certificate or TLS is not acceptable. A retry would not help. */
export function isDistrust(error: unknown): error is Error {
  return isError(error) && "code" in error && typeof error.code === "string" && DISTRUST.test(error.code);
}

interface Host {
  getBuiltinModule?(name: "node:events"): { readonly errorMonitor: symbol } | undefined;
}

/** This event only watches errors. Whether they are handled is up to the program. */
export const errorMonitor: symbol =
  (globalThis as { process?: Host }).process?.getBuiltinModule?.("node:events")?.errorMonitor ?? Symbol("none");
