/**
 * node-redis (the npm package `redis`, 5 and later).
 *
 * @module
 */

import type { RedisAddress } from "../../hub/addresses.js";
import type { RedisValue } from "../../hub/hub.js";
import type { Argument } from "../../hub/arguments.js";
import { isError } from "../../realms.js";
import { type Emitter, type Listener, onEvent } from "../events.js";
import {
  type Borrowed,
  type Classified,
  type Library,
  type Progress,
  type Session,
  binary,
  bytes,
  errorMonitor,
  isRefusal,
} from "./library.js";

type Parameters = readonly (string | Buffer)[];

/** The members of a client of node-redis that the driver uses. */
export interface NodeRedis extends Emitter {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly options?: { readonly socket?: object | undefined } | undefined;
  connect(): Promise<unknown>;
  destroy(): void;
  unref(): void;
  duplicate(overrides?: object): NodeRedis;
  sendCommand(parameters: Parameters, options?: object): Promise<unknown>;
  subscribe(channel: string | Buffer, listener: () => void, bufferMode?: boolean): Promise<void>;
  unsubscribe(channel: string | Buffer): Promise<void>;
}

/** Whether an object is a client of node-redis, by its properties. */
export function isNodeRedis(client: object): client is NodeRedis {
  return (
    ["sendCommand", "duplicate", "subscribe"].every((name) => typeof (client as never)[name] === "function") &&
    "isReady" in client
  );
}

/** These options make the client report its real state: no queue, and no second connection. */
const OURS = { disableOfflineQueue: true };

/** The library's number of a string that the server sends as bytes (`RESP_TYPES.BLOB_STRING`). */
const BLOB_STRING = 36;

/**
 * Options of each command: no timer, because the machine has its own, and no abort signal, because the client's default
 * is for the program's commands. Replies are as the server sends them, without the client's mapping, because a result
 * may be any bytes.
 */
const plain = () => ({ timeout: undefined, abortSignal: undefined, typeMapping: { [BLOB_STRING]: Buffer } });
let known: object | undefined;

function call(client: NodeRedis, parameters: readonly Argument[]): Promise<RedisValue> {
  // Without Buffer there are no connections, but this file may still be loaded.
  known ??= plain();
  return client.sendCommand(binary(parameters), known) as Promise<RedisValue>;
}

/**
 * The names of a class and its ancestors. There may be several copies of the library, and this package imports none.
 */
function* kinds(error: Error): Iterable<string> {
  for (
    let at = Object.getPrototypeOf(error) as object | null;
    at !== null;
    at = Object.getPrototypeOf(at) as object | null
  ) {
    yield at.constructor.name;
  }
}

/** Maps the library's errors to outcomes. After any other error, the outcome is unknown. */
export function classifyError(error: unknown): Classified {
  if (isError(error)) {
    for (const kind of kinds(error)) {
      switch (kind) {
        case "ErrorReply":
          return { reply: error };
        case "ClientOfflineError":
        case "AbortError":
          return { failure: "not-sent" };
        case "ClientClosedError":
          return { failure: "closed" };
      }
    }
  }
  return { failure: "unknown" };
}

/** The library's function that makes a client. */
export type CreateClient = (options: object) => NodeRedis;

/** The driver's own connections to the server of an address. `tls` has the settings of TLS, if it is used. */
export function byAddress(createClient: CreateClient, address: RedisAddress, tls: object | undefined): Library {
  const { host, port, database, credentials } = address;
  const { user, password } = credentials;
  const who = { ...(user !== "" && { username: user }), ...(password !== "" && { password }) };
  const socket = { host, port, ...(tls && { tls: true, ...tls }) };
  return library((overrides) => createClient({ ...who, database, ...overrides }), socket);
}

/** The driver's own connections. `make` makes a client that is not connected. */
export function library(make: (overrides: object) => NodeRedis, socket?: object): Library {
  return {
    open(gone) {
      const client = make({ ...OURS, socket: { ...socket, reconnectStrategy: false } });
      // Every end of the connection causes an error event. Without a listener, it would end the process.
      const progress: Progress = { accepted: false, error: undefined };
      let opened = false;
      client.on("connect", () => {
        progress.accepted = true;
      });
      client.on("error", (error) => {
        progress.error = error;
        if (opened) {
          opened = false;
          gone();
        }
      });
      const connected = async () => {
        await client.connect();
        opened = true;
        client.unref();
        return session(client, () => (opened = false));
      };
      return { session: connected(), progress, end: () => end(client) };
    },
    // The driver opens its own connection again, so the error does not mean that the client is closed.
    classifyError: (error) => {
      const classified = classifyError(error);
      return "failure" in classified && classified.failure === "closed" ? { failure: "not-sent" } : classified;
    },
  };
}

function session(client: NodeRedis, silence: () => void): Session {
  return {
    get ready() {
      return client.isReady;
    },
    call: (parameters) => call(client, parameters),
    subscribe: (channel, message) => client.subscribe(bytes(channel), message),
    unsubscribe: (channel) => client.unsubscribe(bytes(channel)),
    end() {
      silence();
      end(client);
    },
  };
}

function end(client: NodeRedis): void {
  // It throws if the connection has already ended.
  if (client.isOpen) {
    client.destroy();
  }
}

/** The program's client. The driver only sends commands on it. */
export function borrow(client: NodeRedis): Borrowed {
  let last: Error | null = null;
  const remember: Listener = (error) => {
    last = isError(error) ? error : null;
  };
  const forget: Listener = () => {
    last = null;
  };
  // This listener only watches. Whether the errors are handled is up to the program.
  const cancels = [onEvent(client, errorMonitor, remember), onEvent(client, "ready", forget)];
  return {
    get ready() {
      return client.isReady;
    },
    get trouble() {
      if (!client.isOpen) {
        const why = last === null ? {} : { cause: last };
        const error = new Error("the client is not connected: call its connect() first", why);
        return { error, failure: "closed" } as const;
      }
      const error = last ?? new Error("the client is connecting");
      return isRefusal(error) ? { error, reply: error } : ({ error, failure: "not-sent" } as const);
    },
    call: (parameters) => call(client, parameters),
    end() {
      for (const cancel of cancels) {
        cancel();
      }
    },
  };
}
