/**
 * ioredis (5 and later).
 *
 * @module
 */

import { unreadable } from "../../errors.js";
import type { RedisValue } from "../../hub.js";
import type { Argument } from "../../outputs.js";
import { type Borrowed, type Judged, type Library, type Session, errorMonitor, isRefusal } from "./library.js";

type Listener = (...event: unknown[]) => void;

/** What we use of a client of ioredis. */
export interface IoRedis {
  readonly status: string;
  readonly isCluster?: boolean;
  readonly options: { readonly stringNumbers?: boolean | undefined };
  readonly stream?: { unref?: () => void } | undefined;
  connect(): Promise<void>;
  disconnect(reconnect?: boolean): void;
  duplicate(overrides?: object): IoRedis;
  call(command: string, ...parameters: (string | Buffer)[]): Promise<unknown>;
  subscribe(...channels: (string | Buffer)[]): Promise<unknown>;
  unsubscribe(...channels: (string | Buffer)[]): Promise<unknown>;
  on(event: string | symbol, listener: Listener): unknown;
  off(event: string | symbol, listener: Listener): unknown;
}

/** Whether it is a client of ioredis, by its shape. */
export function isIoRedis(client: object): client is IoRedis {
  return (
    ["call", "duplicate", "subscribe"].every((name) => typeof (client as never)[name] === "function") &&
    "status" in client
  );
}

/** What makes a connection say what it does: nothing is queued, sent twice or subscribed again unasked, and its end is its end. */
export const OURS = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  autoResubscribe: false,
  enableAutoPipelining: false,
  retryStrategy: () => null,
  reconnectOnError: null,
  keyPrefix: "",
  stringNumbers: false,
  commandTimeout: undefined,
};

const UNWRITEABLE = "Stream isn't writeable and enableOfflineQueue options is false";

function bytes(argument: Argument): string | Buffer {
  return typeof argument === "string" ? argument : Buffer.from(argument);
}

function call(client: IoRedis, [command, ...parameters]: readonly Argument[]): Promise<RedisValue> {
  return client.call(String(command), ...parameters.map(bytes)) as Promise<RedisValue>;
}

/** From the library's errors to outcomes. What is not here is in doubt. */
export function judge(error: unknown): Judged {
  if (error instanceof Error) {
    if (error.name === "ReplyError") {
      return { reply: error };
    }
    if (error.message === UNWRITEABLE) {
      return { failure: "not-sent" };
    }
  }
  return { failure: "unknown" };
}

/** Our own connections; `make` gives a client that has not been connected. */
export function library(make: (overrides: object) => IoRedis): Library {
  return {
    async open(gone) {
      const client = make(OURS);
      const heard = new Map<string, () => void>();
      let opened = false;
      let last: unknown;
      client.on("error", (error) => {
        last = error;
      });
      client.on("connect", () => client.stream?.unref?.());
      client.on("message", (channel) => heard.get(String(channel))?.());
      client.on("end", () => {
        if (opened) {
          opened = false;
          gone();
        }
      });
      try {
        await client.connect();
      } catch (error) {
        client.disconnect();
        // "Connection is closed." says less than what came before it.
        throw last ?? error;
      }
      opened = true;
      return session(client, heard, () => (opened = false));
    },
    judge,
  };
}

function session(client: IoRedis, heard: Map<string, () => void>, silence: () => void): Session {
  const name = (channel: Argument) => bytes(channel).toString();
  return {
    get ready() {
      return client.status === "ready";
    },
    call: (parameters) => call(client, parameters),
    subscribe(channel, message) {
      heard.set(name(channel), message);
      return client.subscribe(bytes(channel));
    },
    unsubscribe(channel) {
      heard.delete(name(channel));
      return client.unsubscribe(bytes(channel));
    },
    end() {
      silence();
      client.disconnect();
    },
  };
}

/** The caller's client: commands only, on its own terms (its `keyPrefix` is part of the locks' names). */
export function borrow(client: IoRedis): Borrowed {
  if (client.isCluster === true) {
    throw unreadable("a cluster cannot be used: give a client of one server");
  }
  if (client.options.stringNumbers === true) {
    throw unreadable("a client with stringNumbers cannot be used: its replies do not tell numbers from texts");
  }
  let last: Error | null = null;
  const remember: Listener = (error) => {
    last = error instanceof Error ? error : null;
  };
  const forget: Listener = () => {
    last = null;
  };
  client.on(errorMonitor, remember);
  client.on("ready", forget);
  return {
    get ready() {
      // One that waits connects with its first command.
      return client.status === "ready" || client.status === "wait";
    },
    get trouble() {
      if (client.status === "end") {
        return { error: new Error("the client has been closed", { cause: last }), failure: "closed" } as const;
      }
      if (isRefusal(last)) {
        return { error: last, reply: last };
      }
      return { error: last ?? new Error(`the client is ${client.status}`), failure: "not-sent" } as const;
    },
    call: (parameters) => call(client, parameters),
    end() {
      client.off(errorMonitor, remember);
      client.off("ready", forget);
    },
  };
}
