/**
 * Makes a client for an address of Redis, over the library that is installed.
 *
 * @module
 */

import { IOREDIS, withIoRedis } from "../drivers/redis/with-ioredis.js";
import { NODE_REDIS, withNodeRedis } from "../drivers/redis/with-node-redis.js";
import type { Client } from "./client.js";
import { onRedis } from "./on-redis.js";
import type { RedisOptions } from "./given-redis.js";

/** A client for `redis://…` or `rediss://…`. */
export function connectRedis(url: string, options?: RedisOptions): Promise<Client> {
  return onRedis(url, options, `${NODE_REDIS}, or npm install ${IOREDIS}`, withNodeRedis, withIoRedis);
}
