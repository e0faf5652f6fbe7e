/**
 * A program's own client of node-redis.
 *
 * @module
 */

import { RedisDriver } from "../drivers/redis/driver.js";
import * as nodeRedis from "../drivers/redis/node-redis.js";
import type { Driving } from "./given-redis.js";

/** Over node-redis. */
export const overNodeRedis: Driving = (client) => {
  if (!nodeRedis.isNodeRedis(client)) {
    return null;
  }
  const { socket } = client.options ?? {};
  const library = nodeRedis.library((overrides) => client.duplicate(overrides), socket);
  return new RedisDriver(library, nodeRedis.borrow(client));
};
