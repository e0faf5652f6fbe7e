/**
 * `fencepost/ioredis`: clients over `ioredis` (5 and later).
 *
 * @module fencepost/ioredis
 */

import type { Client } from "../client/client.js";
import { overIoRedis } from "../client/given-ioredis.js";
import { type RedisOptions, onGiven } from "../client/given-redis.js";
import { onRedis } from "../client/on-redis.js";
import { IOREDIS, withIoRedis } from "../drivers/redis/with-ioredis.js";

export * from "./client.js";
export type { RedisOptions } from "../client/given-redis.js";

/**
 * A client for the server at `url`: `redis://USER:PASSWORD@HOST:PORT/DATABASE` or `rediss://…?ca=PATH`. It does not
 * wait for the server: the first acquire does, within its own timeout.
 *
 * @throws ConfigError for an address that is not valid; DriverError if `ioredis` is not installed (`driver-missing`)
 * or too old (`driver-unsupported`).
 */
export function connect(url: string, options?: RedisOptions): Promise<Client> {
  return onRedis(url, options, IOREDIS, withIoRedis);
}

/**
 * A client on a connection that the program already has. fencepost never closes it.
 *
 * Commands and subscriptions use duplicates, because ioredis repeats commands by itself. The duplicates have no
 * `keyPrefix`.
 *
 * @throws ConfigError for any other object.
 */
export function fromRedis(client: object, options?: RedisOptions): Client {
  return onGiven(client, options, "the package ioredis", overIoRedis);
}
