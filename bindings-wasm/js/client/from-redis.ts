/**
 * From a connection to Redis to a client.
 *
 * @module
 */

import { RedisDriver } from "../drivers/redis/driver.js";
import * as ioRedis from "../drivers/redis/ioredis.js";
import * as nodeRedis from "../drivers/redis/node-redis.js";
import { unfit } from "../drivers/redis/unfit.js";
import { unreadable } from "../errors.js";
import { Client } from "./client.js";
import { known } from "./options.js";
import { type Reaching, reaching } from "./reaching.js";

/** How to use a Redis connection. */
export type RedisOptions = Reaching;

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
    const library = ioRedis.library((overrides) => client.duplicate(overrides), client);
    return new Client(new RedisDriver(library), { connectTimeout });
  }
  throw unreadable("fromRedis takes a client of the package redis or ioredis");
}
