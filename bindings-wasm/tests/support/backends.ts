/** Each kind of server and client library, with an operator's actions. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";

import { type Client, connect, fromRedis, fromZooKeeper } from "fencepost";
import { Redis } from "ioredis";
import zookeeper from "node-zookeeper-client";
import { createClient } from "redis";

import { address, control, within } from "./servers.js";

export type ZkClient = ReturnType<typeof zookeeper.createClient>;
export type NodeRedisClient = ReturnType<typeof nodeRedisAt>;

export interface Backend {
  readonly name: string;
  /** The server's name for the control port. */
  readonly server: string | null;
  /** Its address, for connect(). */
  readonly url: string;
  /** Options for a lock that is lost soon after its server has stopped. */
  readonly brief: { readonly ttl?: number };
  /** A client. `at`: at another address, a proxy's for example. */
  client(at?: string): Promise<Client>;
  /** Deletes a lock on the server, as an operator would. */
  remove(lock: string): Promise<void>;
  /** The keys or nodes of a lock on the server. */
  traces(lock: string): Promise<string[]>;
  close(): Promise<void>;
}

/** A name that no other test uses. */
export function fresh(): string {
  return `test-${randomBytes(6).toString("hex")}`;
}

/** How long a session lasts in these tests, in ms. */
export const SESSION = 3000;

export function nodeRedisAt(at: string, password?: string) {
  const client = createClient({ url: `redis://${at}`, ...(password !== undefined && { password }) });
  client.on("error", () => undefined);
  return client;
}

export async function zkAt(at: string, timeout = SESSION): Promise<ZkClient> {
  const client = zookeeper.createClient(at, { sessionTimeout: timeout, retries: 0, spinDelay: 50 });
  const connected = new Promise<void>((resolve) => client.once("connected", resolve));
  client.connect();
  await within(10_000, "the connection to ZooKeeper", connected);
  return client;
}

/** A call of node-zookeeper-client as a promise. */
export function zk<T = undefined>(call: (done: (error: unknown, result?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, result) => (error instanceof Error ? reject(error) : resolve(result as T)));
  });
}

export async function memory(): Promise<Backend> {
  const place = `memory:${fresh()}`;
  return Promise.resolve({
    name: "memory",
    server: null,
    url: place,
    brief: {},
    client: () => connect(place),
    remove: () => Promise.reject(new Error("no operator can do that in memory")),
    traces: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  });
}

const PREFIX = "/locks";

export async function zooKeeper(): Promise<Backend> {
  const at = address("FENCEPOST_ZOOKEEPER");
  const url = (at: string) => `zk://${at}${PREFIX}?session_timeout=${SESSION}`;
  let operator = await zkAt(at);
  /** Calls with a connected client: the server may have been stopped for longer than a session. */
  const call = async <T = undefined>(
    what: (operator: ZkClient, done: (error: unknown, result?: T) => void) => void,
  ) => {
    if (operator.getState() !== zookeeper.State.SYNC_CONNECTED) {
      drop(operator);
      operator = await zkAt(at);
    }
    return within(
      5000,
      "ZooKeeper's answer",
      zk<T>((done) => what(operator, done)),
    );
  };
  const children = (path: string) =>
    call<string[]>((operator, done) => operator.getChildren(path, done)).catch((error: unknown) => {
      if (error instanceof Error && error.name === "NO_NODE") {
        return [] as string[];
      }
      throw error;
    });
  return {
    name: "zookeeper",
    server: "zookeeper",
    url: url(at),
    brief: {},
    client: (other = at) => connect(url(other)),
    async remove(lock) {
      const [first] = (await children(`${PREFIX}/${lock}`)).sort((a, b) => (a.slice(-10) < b.slice(-10) ? -1 : 1));
      assert.ok(first);
      await call((operator, done) => operator.remove(`${PREFIX}/${lock}/${first}`, -1, done));
    },
    traces: (lock) => children(`${PREFIX}/${lock}`),
    async close() {
      for (const lock of await children(PREFIX)) {
        await call((operator, done) => operator.remove(`${PREFIX}/${lock}`, -1, done)).catch(() => undefined);
      }
      drop(operator);
    },
  };
}

/** Ends a client in any state: `close()` leaves a client that is not connected half open. */
export function drop(client: ZkClient): void {
  if (client.getState() === zookeeper.State.SYNC_CONNECTED) {
    client.close();
    return;
  }
  const { connectionManager } = client as unknown as {
    connectionManager: { connect: unknown; findNextServer: unknown; socket?: { destroy(): void } };
  };
  connectionManager.connect = connectionManager.findNextServer = () => undefined;
  connectionManager.socket?.destroy();
}

async function redis(name: string, client: (at: string) => Promise<Client>): Promise<Backend> {
  const at = address("FENCEPOST_REDIS");
  let operator = nodeRedisAt(at);
  await operator.connect();
  return {
    name,
    server: "redis-1",
    url: `redis://${at}`,
    brief: { ttl: SESSION },
    client: (other = at) => client(other),
    async remove(lock) {
      await operator.del(lock);
    },
    traces: async (lock) => ((await operator.exists(lock)) === 1 ? [lock] : []),
    async close() {
      // The server may have been restarted.
      operator.destroy();
      operator = nodeRedisAt(at);
      await operator.connect();
      await operator.flushDb();
      operator.destroy();
    },
  };
}

/** A connection that fencepost makes for an address. */
export const nodeRedis = () => redis("node-redis", (at) => connect(`redis://${at}`));

/** On a connection that the test has made. */
export const ioRedis = () => {
  const given = new Set<Redis>();
  return redis("ioredis", (at) => {
    const connection = new Redis(`redis://${at}`, { retryStrategy: () => 20 });
    connection.on("error", () => undefined);
    given.add(connection);
    const client = fromRedis(connection);
    return Promise.resolve(closing(client, () => connection.disconnect()));
  });
};

/** A client that also closes its connection when it is closed. */
function closing(client: Client, end: () => void): Client {
  const close = client.close.bind(client);
  client.close = async () => {
    try {
      await close();
    } finally {
      end();
    }
  };
  return client;
}

export const BACKENDS = [memory, zooKeeper, nodeRedis, ioRedis];
export const SERVERS = [zooKeeper, nodeRedis, ioRedis];

/** Ends the session of a ZooKeeper client on the server. */
export async function expire(client: ZkClient): Promise<void> {
  const id = client.getSessionId().readBigUInt64BE();
  await control("expire", address("FENCEPOST_ZOOKEEPER"), id, client.getSessionPassword().toString("hex"));
}

export { fromZooKeeper };
