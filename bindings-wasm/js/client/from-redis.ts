/**
 * Makes a client from a connection to Redis, for both libraries.
 *
 * @module
 */

import type { Client } from "./client.js";
import { overIoRedis } from "./given-ioredis.js";
import { overNodeRedis } from "./given-node-redis.js";
import { type RedisOptions, onGiven } from "./given-redis.js";

/**
 * A client on a connection that the program already has: a client of node-redis (`redis`, 5 and later) or of
 * `ioredis` (5 and later). fencepost never closes it.
 *
 * With node-redis, commands use that connection, and subscriptions use a duplicate, which opens when a
 * contender has to wait. With ioredis both use duplicates, because ioredis repeats commands by itself; the
 * duplicates have no `keyPrefix`.
 *
 * @throws ConfigError for anything else: a cluster, a sentinel client or a pool of node-redis, a client of
 * node-redis 4.
 */
export function fromRedis(client: object, options?: RedisOptions): Client {
  return onGiven(client, options, "the package redis or ioredis", overNodeRedis, overIoRedis);
}
