/**
 * node-redis (the npm package `redis`, 5 and later).
 *
 * @module
 */

import type { RedisAddress } from "../../hub/addresses.js";
import type { RedisValue } from "../../hub/hub.js";
import type { Argument } from "../../hub/arguments.js";
import {
  type Borrowed,
  type Judged,
  type Library,
  type Session,
  binary,
  bytes,
  errorMonitor,
  isRefusal,
} from "./library.js";

type Parameters = readonly (string | Buffer)[];
type Listener = (...event: unknown[]) => void;

/** What we use of a client of node-redis. */
export interface NodeRedis {
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
  on(event: string | symbol, listener: Listener): unknown;
  off(event: string | symbol, listener: Listener): unknown;
}

/** Whether it is a client of node-redis, by its shape. */
export function isNodeRedis(client: object): client is NodeRedis {
  return (
    ["sendCommand", "duplicate", "subscribe"].every((name) => typeof (client as never)[name] === "function") &&
    "isReady" in client
  );
}

/** A connection is as good as what it says now: no queue, no second connection behind our back. */
const OURS = { disableOfflineQueue: true };

/** The library's number of a string that the server sends as bytes (`RESP_TYPES.BLOB_STRING`). */
const BLOB_STRING = 36;

/** Per command: no timer (the machine has its own), and replies as the server sends them, whatever the client maps them to: a result may be any bytes. */
const plain = () => ({ timeout: undefined, typeMapping: { [BLOB_STRING]: Buffer } });
let known: object | undefined;

function call(client: NodeRedis, parameters: readonly Argument[]): Promise<RedisValue> {
  // Where there is no Buffer there is no connection either, but this file is loaded.
  known ??= plain();
  return client.sendCommand(binary(parameters), known) as Promise<RedisValue>;
}

/** The names of a class and those above it: there may be several copies of the library, and this package imports none. */
function* kinds(error: Error): Iterable<string> {
  for (
    let at = Object.getPrototypeOf(error) as object | null;
    at !== null;
    at = Object.getPrototypeOf(at) as object | null
  ) {
    yield at.constructor.name;
  }
}

/** From the library's errors to outcomes. What is not here is in doubt. */
export function judge(error: unknown): Judged {
  if (error instanceof Error) {
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

/** How the library makes a client. */
export type CreateClient = (options: object) => NodeRedis;

/** Our own connections to the server of an address; `tls`: with TLS, and with these settings. */
export function byAddress(createClient: CreateClient, address: RedisAddress, tls: object | undefined): Library {
  const { host, port, database, credentials } = address;
  const { user, password } = credentials;
  const who = { ...(user !== "" && { username: user }), ...(password !== "" && { password }) };
  const socket = { host, port, ...(tls && { tls: true, ...tls }) };
  return library((overrides) => createClient({ ...who, database, ...overrides }), socket);
}

/** Our own connections; `make` gives a client that has not been connected. */
export function library(make: (overrides: object) => NodeRedis, socket?: object): Library {
  return {
    open(gone) {
      const client = make({ ...OURS, socket: { ...socket, reconnectStrategy: false } });
      // Without a listener an error would end the process. It comes at every end of the connection.
      let opened = false;
      client.on("error", () => {
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
      return { session: connected(), end: () => end(client) };
    },
    // Our own connection is opened again: what it says is not for good.
    judge: (error) => {
      const judged = judge(error);
      return "failure" in judged && judged.failure === "closed" ? { failure: "not-sent" } : judged;
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
  // It throws if there is nothing left to end.
  if (client.isOpen) {
    client.destroy();
  }
}

/** The caller's client: commands only, on its own terms. */
export function borrow(client: NodeRedis): Borrowed {
  let last: Error | null = null;
  const remember: Listener = (error) => {
    last = error instanceof Error ? error : null;
  };
  const forget: Listener = () => {
    last = null;
  };
  // It watches: whether somebody handles the errors remains the caller's affair.
  client.on(errorMonitor, remember);
  client.on("ready", forget);
  return {
    get ready() {
      return client.isReady;
    },
    get trouble() {
      if (!client.isOpen) {
        const error = new Error("the client is not connected: call its connect() first", { cause: last });
        return { error, failure: "closed" } as const;
      }
      const error = last ?? new Error("the client is connecting");
      return isRefusal(error) ? { error, reply: error } : ({ error, failure: "not-sent" } as const);
    },
    call: (parameters) => call(client, parameters),
    end() {
      client.off(errorMonitor, remember);
      client.off("ready", forget);
    },
  };
}
