/**
 * From an address or a connection to a client.
 *
 * @module
 */

import { certificates } from "../drivers/redis/certificates.js";
import { RedisDriver } from "../drivers/redis/driver.js";
import * as ioRedis from "../drivers/redis/ioredis.js";
import * as nodeRedis from "../drivers/redis/node-redis.js";
import { ZooKeeperDriver } from "../drivers/zookeeper/driver.js";
import { STATE, type ZkClient, isZkClient } from "../drivers/zookeeper/library.js";
import type { Acl } from "../drivers/zookeeper/requests.js";
import { unreadable } from "../errors.js";
import { parseAddress } from "../hub.js";
import type { Address, RedisAddress } from "../outputs.js";
import { Client } from "./client.js";
import { known } from "./options.js";

/** How to use a ZooKeeper connection. */
export interface ZooKeeperOptions {
  /** The path below which the locks lie (the root). */
  readonly prefix?: string | undefined;
  /** Who may do what with the nodes of the locks (everybody everything). */
  readonly acl?: readonly Acl[] | undefined;
}

/** How to connect. */
export interface ConnectOptions {
  /** ZooKeeper: who may do what with the nodes of the locks (everybody everything). */
  readonly acl?: readonly Acl[] | undefined;
}

/**
 * A client of the server at `url`: `memory:` and `memory:NAME` (inside this process),
 * `zk://HOST:PORT,HOST:PORT/PREFIX?session_timeout=MS`, `redis://USER:PASSWORD@HOST:PORT/DATABASE`, `rediss://…?ca=PATH`.
 *
 * The client libraries are loaded when they are needed: `node-zookeeper-client` for zk:, `redis` or else `ioredis` for redis:. Nobody
 * waits for the server: connecting is part of the patience of the first acquire.
 *
 * @throws ConfigError for an address that makes no sense.
 */
export async function connect(url: string, options?: ConnectOptions): Promise<Client> {
  const address = parseAddress(url);
  known(options, ...(address.kind === "zookeeper" ? ["acl"] : []));
  switch (address.kind) {
    case "memory":
      return new Client(new (await import("../drivers/memory.js")).MemoryDriver(address.name));
    case "zookeeper":
      return connectZooKeeper(address, options);
    case "redis":
      return new Client(await redisDriver(address));
  }
}

/**
 * A client on a connection of your own: a client of node-redis (`redis`, 5 and later) or of `ioredis` (5 and later). It is never closed for you.
 *
 * With node-redis, commands go out on it, and subscriptions on a duplicate that is opened when somebody has to wait. With ioredis both go out on
 * duplicates, because it sends commands again behind one's back; they have no `keyPrefix`.
 *
 * @throws ConfigError for anything else.
 */
export function fromRedis(client: object): Client {
  if (typeof client !== "object" || (client as object | null) === null) {
    throw unreadable("fromRedis takes a client of the package redis or ioredis");
  }
  if (nodeRedis.isNodeRedis(client)) {
    const { socket } = client.options ?? {};
    const library = nodeRedis.library((overrides) => client.duplicate(overrides), socket);
    return new Client(new RedisDriver(library, nodeRedis.borrow(client)));
  }
  if (ioRedis.isIoRedis(client)) {
    if (client.isCluster === true) {
      throw unreadable("a cluster cannot be used: give a client of one server");
    }
    const over = () => client.status === "end";
    return new Client(new RedisDriver(ioRedis.library((overrides) => client.duplicate(overrides), over)));
  }
  throw unreadable("fromRedis takes a client of the package redis or ioredis");
}

/**
 * A client on a connection of your own: a client of `node-zookeeper-client`, or a function that makes such clients. A client that you give is never closed
 * for you; when its session expires, so does the use of it. With a function there is a new session then: each call gives a client that nobody has connected.
 *
 * @throws ConfigError for anything else, and for a client that has been closed or was never connected.
 */
export function fromZooKeeper(client: object | (() => object), options?: ZooKeeperOptions): Client {
  known(options, "prefix", "acl");
  const { prefix = "", acl } = options ?? {};
  if (typeof prefix !== "string") {
    throw unreadable("prefix has to be a string");
  }
  if (typeof client === "function") {
    const make = () => checked((client as () => object)());
    return new Client(new ZooKeeperDriver({ make }, checkedAcl(acl)), prefix);
  }
  const given = checked(client);
  const { state, socket } = given.connectionManager;
  if (state === STATE.disconnected && socket === undefined) {
    throw unreadable("the ZooKeeper client was never connected: call its connect() first");
  }
  if (state < STATE.disconnected) {
    throw unreadable("the ZooKeeper client has been closed");
  }
  return new Client(new ZooKeeperDriver({ client: given }, checkedAcl(acl)), prefix);
}

function checked(client: unknown): ZkClient {
  if (typeof client !== "object" || client === null || !isZkClient(client)) {
    throw unreadable("fromZooKeeper takes a client of the package node-zookeeper-client");
  }
  return client;
}

function checkedAcl(acl: unknown): readonly Acl[] | undefined {
  if (acl === undefined) {
    return undefined;
  }
  const fits = (one: unknown) => {
    const { permissions, scheme, id } = (one ?? {}) as Partial<Acl>;
    return Number.isInteger(permissions) && typeof scheme === "string" && typeof id === "string";
  };
  if (!Array.isArray(acl) || acl.length === 0 || !acl.every(fits)) {
    throw unreadable("acl has to be a list of {permissions, scheme, id}");
  }
  return acl as Acl[];
}

async function connectZooKeeper(
  address: Extract<Address, { kind: "zookeeper" }>,
  options?: ConnectOptions,
): Promise<Client> {
  const { hosts, prefix, sessionTimeout } = address;
  const library = (await load("node-zookeeper-client", () => import("node-zookeeper-client"))).default;
  const make = () => library.createClient(hosts, { sessionTimeout, retries: 0 }) as unknown as ZkClient;
  return new Client(new ZooKeeperDriver({ make }, checkedAcl(options?.acl)), prefix);
}

async function redisDriver(address: RedisAddress): Promise<RedisDriver> {
  const trusted = !address.tls ? undefined : address.ca === "" ? {} : { ca: certificates(address.ca) };
  try {
    const { createClient } = await import("redis");
    return new RedisDriver(nodeRedis.byAddress(createClient as nodeRedis.CreateClient, address, trusted));
  } catch (error) {
    if (!isMissing(error)) {
      throw error;
    }
  }
  const { Redis } = await load("redis or ioredis", () => import("ioredis"));
  return new RedisDriver(ioRedis.byAddress(Redis, address, trusted));
}

async function load<T>(name: string, get: () => Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    if (isMissing(error)) {
      throw new Error(`this address needs a package that is not installed: ${name}`, { cause: error });
    }
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}
