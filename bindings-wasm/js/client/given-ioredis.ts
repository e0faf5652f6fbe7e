/**
 * A program's own client of ioredis.
 *
 * @module
 */

import { RedisDriver } from "../drivers/redis/driver.js";
import * as ioRedis from "../drivers/redis/ioredis.js";
import type { Driving } from "./given-redis.js";

/** Over ioredis. */
export const overIoRedis: Driving = (client) =>
  ioRedis.isIoRedis(client) ? new RedisDriver(ioRedis.inPlaceOf(client)) : null;
