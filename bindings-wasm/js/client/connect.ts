/**
 * From an address or a connection to a client.
 *
 * @module
 */

import { certificates } from "../drivers/redis/certificates.js";
import { RedisDriver } from "../drivers/redis/driver.js";
import * as ioRedis from "../drivers/redis/ioredis.js";
import * as nodeRedis from "../drivers/redis/node-redis.js";
import { unfit } from "../drivers/redis/unfit.js";
import type { Acl } from "../drivers/zookeeper/acl.js";
import { ZooKeeperDriver } from "../drivers/zookeeper/driver.js";
import { STATE, type ZkClient, isZkClient } from "../drivers/zookeeper/library.js";
import { ConfigError, shown, unreadable } from "../errors.js";
import { parseAddress } from "../hub.js";
import type { Address, RedisAddress } from "../outputs.js";
import { Client } from "./client.js";
import { known } from "./options.js";

/** How to reach a server. */
interface Reaching {
  /**
   * How long an acquire waits for the first connection to the server, in ms (5000): then it is refused as `unreachable`, whatever its own timeout, with the
   * reason as its cause. Once there has been a connection, an acquire waits as long as its timeout says.
   */
  readonly connectTimeout?: number | undefined;
}

/** How to use a Redis connection. */
export type RedisOptions = Reaching;

/** How to use a ZooKeeper connection. */
export interface ZooKeeperOptions extends Reaching {
  /** The path below which the locks lie (the root). */
  readonly prefix?: string | undefined;
  /** Who may do what with the nodes of the locks (everybody everything). */
  readonly acl?: readonly Acl[] | undefined;
}

/** How to connect. */
export interface ConnectOptions extends Reaching {
  /** ZooKeeper: who may do what with the nodes of the locks (everybody everything). */
  readonly acl?: readonly Acl[] | undefined;
}

/**
 * A client of the server at `url`: `memory:` and `memory:NAME` (inside this process),
 * `zk://HOST:PORT,HOST:PORT/PREFIX?session_timeout=MS`, `redis://USER:PASSWORD@HOST:PORT/DATABASE`, `rediss://…?ca=PATH`.
 *
 * The client libraries are loaded when they are needed: `node-zookeeper-client` for zk:, `redis` or else `ioredis` for redis:. It does not
 * wait for the server: connecting is part of the patience of the first acquire.
 *
 * @throws ConfigError for an address that makes no sense.
 */
export async function connect(url: string, options?: ConnectOptions): Promise<Client> {
  const address = parseAddress(url);
  known(options, ...(address.kind === "zookeeper" ? ["acl"] : []), "connectTimeout");
  const connectTimeout = reaching(options);
  switch (address.kind) {
    case "memory":
      return new Client(new (await import("../drivers/memory.js")).MemoryDriver(address.name), { connectTimeout });
    case "zookeeper": {
      const driver = await zooKeeperDriver(address, checkedAcl(options?.acl));
      return new Client(driver, { prefix: address.prefix, connectTimeout });
    }
    case "redis":
      return new Client(await redisDriver(address), { connectTimeout });
  }
}

/**
 * A client on a connection of your own: a client of node-redis (`redis`, 5 and later) or of `ioredis` (5 and later). It is never closed for you.
 *
 * With node-redis, commands go out on it, and subscriptions on a duplicate that is opened when somebody has to wait. With ioredis both go out on
 * duplicates, because it sends commands again behind one's back; they have no `keyPrefix`.
 *
 * @throws ConfigError for anything else: a cluster, a sentinel client or a pool of node-redis, a client of node-redis 4.
 */
export function fromRedis(client: object, options?: RedisOptions): Client {
  known(options, "connectTimeout");
  const connectTimeout = reaching(options);
  if (typeof client !== "object" || (client as object | null) === null) {
    throw unreadable("fromRedis takes a client of the package redis or ioredis");
  }
  const why = unfit(client);
  if (why !== null) {
    throw unreadable(why);
  }
  if (nodeRedis.isNodeRedis(client)) {
    const { socket } = client.options ?? {};
    const library = nodeRedis.library((overrides) => client.duplicate(overrides), socket);
    return new Client(new RedisDriver(library, nodeRedis.borrow(client)), { connectTimeout });
  }
  if (ioRedis.isIoRedis(client)) {
    const over = () => client.status === "end";
    const library = ioRedis.library((overrides) => client.duplicate(overrides), over);
    return new Client(new RedisDriver(library), { connectTimeout });
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
  known(options, "prefix", "acl", "connectTimeout");
  const connectTimeout = reaching(options);
  const { prefix = "", acl } = options ?? {};
  if (typeof prefix !== "string") {
    throw unreadable("prefix has to be a string");
  }
  if (typeof client === "function") {
    const make = () => checked((client as () => object)());
    return new Client(new ZooKeeperDriver({ make }, checkedAcl(acl)), { prefix, connectTimeout });
  }
  const given = checked(client);
  const { state, socket } = given.connectionManager;
  if (state === STATE.disconnected && socket === undefined) {
    throw unreadable("the ZooKeeper client was never connected: call its connect() first");
  }
  if (state < STATE.disconnected) {
    throw unreadable("the ZooKeeper client has been closed");
  }
  return new Client(new ZooKeeperDriver({ client: given }, checkedAcl(acl)), { prefix, connectTimeout });
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

/** The time for the first connection, in ms, or undefined. */
function reaching(options: Reaching | undefined): number | undefined {
  const connectTimeout: unknown = options?.connectTimeout;
  if (connectTimeout === undefined) {
    return undefined;
  }
  if (typeof connectTimeout !== "number" || !(connectTimeout > 0 && connectTimeout <= LONGEST)) {
    const text = `connectTimeout is ${shown(connectTimeout)}: it has to be a number of milliseconds from 1 to ${LONGEST}`;
    throw new ConfigError(110, "invalid-option", text);
  }
  return connectTimeout;
}

/** A day, in ms. */
const LONGEST = 24 * 3_600_000;

async function zooKeeperDriver(
  { hosts, sessionTimeout }: Extract<Address, { kind: "zookeeper" }>,
  acl: readonly Acl[] | undefined,
): Promise<ZooKeeperDriver> {
  // Bundlers let a package be absent whose import they see in a `try`.
  try {
    const createClient = nothing((await import("node-zookeeper-client")).default.createClient);
    if (createClient === null) {
      throw missing("node-zookeeper-client");
    }
    const make = () => createClient(hosts, { sessionTimeout, retries: 0 }) as unknown as ZkClient;
    return new ZooKeeperDriver({ make }, acl, hosts);
  } catch (error) {
    throw isMissing(error) ? missing("node-zookeeper-client", error) : error;
  }
}

async function redisDriver(address: RedisAddress): Promise<RedisDriver> {
  const { host, port, tls, ca } = address;
  const trusted = !tls ? undefined : ca === "" ? {} : { ca: certificates(ca) };
  const at = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const createClient = await nodeRedisClass();
  if (createClient !== null) {
    const library = nodeRedis.byAddress(createClient as nodeRedis.CreateClient, address, trusted);
    return new RedisDriver(library, null, at);
  }
  const Redis = await ioRedisClass();
  if (Redis !== null) {
    return new RedisDriver(ioRedis.byAddress(Redis, address, trusted), null, at);
  }
  throw missing("redis or ioredis");
}

async function nodeRedisClass() {
  try {
    return nothing((await import("redis")).createClient);
  } catch (error) {
    return absent(error);
  }
}

async function ioRedisClass() {
  try {
    const library = (await import("ioredis")) as unknown as { Redis?: IoRedisClass; default?: IoRedisClass };
    // Before 5.1 the class is the default export alone.
    return nothing(library.Redis ?? library.default);
  } catch (error) {
    return absent(error);
  }
}

type IoRedisClass = new (options: object) => ioRedis.IoRedis;

/** A package that bundlers have replaced by an empty one is absent, too. */
function nothing<T>(exported: T | undefined): T | null {
  return typeof exported === "function" ? exported : null;
}

function absent(error: unknown): null {
  if (isMissing(error)) {
    return null;
  }
  throw error;
}

function missing(name: string, cause?: unknown): ConfigError {
  const text = `this address needs a package that is not installed, or not in this bundle: ${name}`;
  return new ConfigError(106, "invalid-url", text, cause === undefined ? {} : { cause });
}

/** What Node.js, Deno and Bun say of a package that is not there, and what stands for it in the bundles of webpack, Rollup and Vite, and in a browser. */
const MISSING = /^(Cannot find (module|package)|Could not resolve|Failed to resolve|Module not found)/;

function isMissing(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false;
  }
  const { code } = error as { readonly code?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND" || MISSING.test(error.message);
}
