/**
 * ioredis (5 and later).
 *
 * @module
 */

import { nextTick } from "../../host.js";
import type { RedisAddress } from "../../hub/addresses.js";
import type { RedisValue } from "../../hub/hub.js";
import type { Argument } from "../../hub/arguments.js";
import { isError } from "../../realms.js";
import { type Emitter, type Listener, onEvent } from "../events.js";
import { type Classified, type Library, type Progress, type Session, Unsent, binary, bytes } from "./library.js";
import { ONCE, Sentinels, type Watched } from "./sentinels.js";

/** The members of its socket that the driver uses. */
interface Stream {
  unref?: () => void;
  destroy?: () => void;
  cork?: () => void;
  uncork?: () => void;
}

/** The state of a connection that is not in its options. */
interface Condition {
  readonly select?: number;
}

/** The members of a client of ioredis that the driver uses. */
export interface IoRedis extends Watched, Emitter {
  readonly status: string;
  readonly isCluster?: boolean;
  /** Of the present connection; null before the first one. */
  readonly condition?: Condition | null;
  /** Of the last connection, while the client makes the next one, which gets the same database. */
  readonly prevCondition?: Condition | null;
  readonly options?: Watched["options"] & { readonly db?: number | undefined };
  readonly stream?: Stream | undefined;
  connect(): Promise<void>;
  disconnect(reconnect?: boolean): void;
  duplicate(overrides?: object): IoRedis;
  call(command: string, ...parameters: (string | Buffer)[]): Promise<unknown>;
  callBuffer(command: string, ...parameters: (string | Buffer)[]): Promise<unknown>;
  evalshaBuffer(sha: string | Buffer, keys: string, ...parameters: (string | Buffer)[]): Promise<unknown>;
  subscribe(...channels: (string | Buffer)[]): Promise<unknown>;
  unsubscribe(...channels: (string | Buffer)[]): Promise<unknown>;
}

/** Whether an object is a client of ioredis, by its properties. */
export function isIoRedis(client: object): client is IoRedis {
  return (
    ["call", "duplicate", "subscribe"].every((name) => typeof (client as never)[name] === "function") &&
    "status" in client
  );
}

/**
 * These options make the client do only what the driver requests: no queue, no repeated command, no additional
 * subscription, no reconnect.
 */
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
  monitor: false,
  ...ONCE,
};

const UNWRITEABLE = "Stream isn't writeable and enableOfflineQueue options is false";

/** Strings in a reply stay bytes, because a result may be any bytes. */
function call(client: IoRedis, parameters: readonly Argument[]): Promise<RedisValue> {
  const all = binary(parameters);
  const rest = all.slice(1);
  // This call is for most commands. The general one removes the name from the arguments, and converts and looks it up
  // several times.
  const answer =
    all[0] === "EVALSHA"
      ? client.evalshaBuffer(...(rest as [string, string]))
      : client.callBuffer(String(all[0]), ...rest);
  return answer as Promise<RedisValue>;
}

/** Maps the library's errors to outcomes. After any other error, the outcome is unknown. */
export function classifyError(error: unknown): Classified {
  if (isError(error)) {
    if (error.name === "ReplyError") {
      return { reply: error };
    }
    if (error.message === UNWRITEABLE) {
      return { failure: "not-sent" };
    }
  }
  return { failure: "unknown" };
}

/** The driver's own connections to the server of an address. `tls` has the settings of TLS, if it is used. */
export function byAddress(
  Redis: new (options: object) => IoRedis,
  address: RedisAddress,
  tls: object | undefined,
): Library {
  const { host, port, database: db, credentials } = address;
  const { user, password } = credentials;
  const who = { ...(user !== "" && { username: user }), ...(password !== "" && { password }) };
  return library((overrides) => new Redis({ host, port, db, ...who, ...(tls && { tls }), ...overrides }));
}

/**
 * The driver's own connections. `make` makes a client that is not connected. They also replace a client of the program,
 * because its options may send commands twice, and a repeated release looks like a loss. `given` is that client; its
 * end ends the driver's connections.
 */
export function library(make: (overrides: object) => IoRedis, given?: IoRedis): Library {
  return {
    open(gone) {
      const progress: Progress = { accepted: false, error: undefined };
      const isOver = () => given?.status === "end";
      if (isOver()) {
        return { session: Promise.reject(closed()), progress, end: () => undefined };
      }
      const client = make(OURS);
      const handlers = new Map<string, () => void>();
      let opened = false;
      client.on("error", (error) => {
        if (!isSummary(error) || progress.error === undefined) {
          progress.error = error;
        }
      });
      client.on("sentinelError", (error) => {
        progress.error = error;
      });
      client.on("connect", () => {
        progress.accepted = true;
        client.stream?.unref?.();
      });
      client.on("message", (channel) => handlers.get(String(channel))?.());
      const leave = () => {
        forget();
        end(client);
      };
      // Locks would not exclude those of other programs in the database that the program has left.
      const moved = () => {
        if (given !== undefined && databaseOf(given) !== databaseOf(client)) {
          leave();
        }
      };
      // A client that notices a failover leaves the old server, which may still reply.
      const follows = given?.options?.failoverDetector === true;
      const cancels: (() => void)[] = [];
      const listen = (events: Readonly<Record<string, Listener>>) => {
        if (given !== undefined) {
          cancels.push(...Object.entries(events).map(([event, call]) => onEvent(given, event, call)));
        }
      };
      const forget = () => {
        for (const cancel of cancels.splice(0)) {
          cancel();
        }
      };
      client.on("end", () => {
        forget();
        if (opened) {
          opened = false;
          gone();
        }
      });
      const connected = async () => {
        try {
          await client.connect();
        } catch (error) {
          // "Connection is closed." is less specific than the error before it.
          throw progress.error ?? error;
        }
        await select(client);
        if (isOver()) {
          end(client);
          throw closed();
        }
        opened = true;
        listen({ end: leave, select: moved, ...(follows && { close: leave }) });
        moved();
        return session(client, handlers, () => {
          opened = false;
          forget();
        });
      };
      return { session: connected(), progress, end: () => end(client) };
    },
    classifyError,
  };
}

/** Whether an error follows those of all sentinels, and is less specific than they are. */
function isSummary(error: unknown): boolean {
  return isError(error) && error.message.startsWith("All sentinels are unreachable");
}

/** The connections of the driver in place of a client of the program. */
export function inPlaceOf(client: IoRedis): Library {
  const sentinels = new Sentinels(client);
  return library(
    (overrides) => sentinels.watch(client.duplicate({ ...overrides, ...sentinels.options(), db: databaseOf(client) })),
    client,
  );
}

/** The database that a client uses. After a `select()`, it differs from the options. */
function databaseOf(client: IoRedis): number {
  return (client.prevCondition ?? client.condition)?.select ?? client.options?.db ?? 0;
}

/**
 * If the server denies another database, the library stays in database 0, without an error. Locks would then not
 * exclude those in the right database.
 */
async function select(client: IoRedis): Promise<void> {
  const db = databaseOf(client);
  if (db === 0) {
    return;
  }
  try {
    await client.call("select", String(db));
  } catch (error) {
    if (!(isError(error) && error.name === "ReplyError")) {
      throw error;
    }
    const text = `${error.message}: the server refuses database ${db}: allow this user SELECT, or use a database that exists`;
    throw new Unsent(text, { reply: new Error(text, { cause: error }) }, { cause: error });
  }
}

function closed(): Unsent {
  return new Unsent("the client has been closed", { failure: "closed" });
}

function session(client: IoRedis, handlers: Map<string, () => void>, silence: () => void): Session {
  const name = (channel: Argument) => bytes(channel).toString();
  const gather = gathering(client);
  return {
    get ready() {
      return client.status === "ready";
    },
    call(parameters) {
      gather();
      return call(client, parameters);
    },
    subscribe(channel, message) {
      handlers.set(name(channel), message);
      return client.subscribe(bytes(channel));
    },
    unsubscribe(channel) {
      handlers.delete(name(channel));
      return client.unsubscribe(bytes(channel));
    },
    end() {
      silence();
      end(client);
    },
  };
}

/** How many commands of a turn the first two writes have together: few, so that the server begins early. */
const FIRST = 8;

/** How many commands a write has at most. Node.js copies them, and a larger copy costs more than another write. */
const TOGETHER = 32;

/**
 * Sends the commands of one turn of the event loop in few writes. The library writes each command separately, and each
 * write is a system call. A command that is alone in its turn is written at once.
 */
function gathering(client: IoRedis): () => void {
  if (nextTick === null) {
    return () => undefined;
  }
  const later = nextTick;
  let corked: Stream | undefined;
  let sent = 0;
  const collect = () => {
    corked = client.stream;
    corked?.cork?.();
  };
  const write = () => {
    corked?.uncork?.();
    corked = undefined;
  };
  const turn = () => {
    sent = 0;
    write();
  };
  return () => {
    if (sent === 0) {
      later(turn);
    } else if (sent === 1) {
      collect();
    } else if (sent === FIRST || sent % TOGETHER === 0) {
      write();
      collect();
    }
    sent += 1;
  };
}

function end(client: IoRedis): void {
  const { stream } = client;
  // If the connection has ended, `disconnect` would wait for its end, with a timer that keeps the process alive.
  if (client.status !== "end") {
    client.disconnect();
  }
  // The library waits for the server to end the connection, and a silent server never does.
  stream?.destroy?.();
}
