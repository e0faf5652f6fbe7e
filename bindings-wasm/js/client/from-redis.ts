/**
 * From a connection to Redis to a client.
 *
 * @module
 */

import { RedisDriver } from "../drivers/redis/driver.js";
import * as ioRedis from "../drivers/redis/ioredis.js";
import * as nodeRedis from "../drivers/redis/node-redis.js";
import { unsupported } from "../drivers/redis/unsupported.js";
import { unreadable } from "../errors.js";
import { Client } from "./client.js";
import { type ConnectTimeout, checkedConnectTimeout } from "./connect-timeout.js";
import { known } from "./options.js";

/** Options of {@link fromRedis}. */
export type RedisOptions = ConnectTimeout;

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
  known(options, "connectTimeout");
  const connectTimeout = checkedConnectTimeout(options);
  if (typeof client !== "object" || (client as object | null) === null) {
    throw unreadable("fromRedis takes a client of the package redis or ioredis");
  }
  const why = unsupported(client);
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
