/**
 * `fencepost/redis`: clients over node-redis (the package `redis`, 5 and later).
 *
 * @module fencepost/redis
 */

import type { Client } from "../client/client.js";
import { overNodeRedis } from "../client/given-node-redis.js";
import { type RedisOptions, onGiven } from "../client/given-redis.js";
import { onRedis } from "../client/on-redis.js";
import { NODE_REDIS, withNodeRedis } from "../drivers/redis/with-node-redis.js";

export * from "./client.js";
export type { RedisOptions } from "../client/given-redis.js";

/**
 * A client for the server at `url`: `redis://USER:PASSWORD@HOST:PORT/DATABASE` or `rediss://…?ca=PATH`. It does not
 * wait for the server: the first acquire does, within its own timeout.
 *
 * @throws ConfigError for an address that is not valid; DriverError if `redis` is not installed (`driver-missing`)
 * or too old (`driver-unsupported`).
 */
export function connect(url: string, options?: RedisOptions): Promise<Client> {
  return onRedis(url, options, NODE_REDIS, withNodeRedis);
}

/**
 * A client on a connection that the program already has. fencepost never closes it.
 *
 * Commands use that connection, and subscriptions use a duplicate, which opens when a contender has to wait.
 *
 * @throws ConfigError for any other object.
 */
export function fromRedis(client: object, options?: RedisOptions): Client {
  return onGiven(client, options, "the package redis", overNodeRedis);
}
