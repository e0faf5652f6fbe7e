/**
 * A program's own connection to Redis, with any library.
 *
 * @module
 */

import type { RedisDriver } from "../drivers/redis/driver.js";
import { unsupported } from "../drivers/redis/unsupported.js";
import { unreadable } from "../errors.js";
import { Client } from "./client.js";
import { type ConnectTimeout, checkedConnectTimeout } from "./connect-timeout.js";
import { known } from "./options.js";

/** Options of `fromRedis`. */
export type RedisOptions = ConnectTimeout;

/** @internal Returns a driver for a client of one library; null for other objects. */
export type Driving = (client: object) => RedisDriver | null;

/**
 * @internal A client on a connection that one of these functions accepts. `packages` names their libraries, for error
 * texts.
 */
export function onGiven(
  client: object,
  options: RedisOptions | undefined,
  packages: string,
  ...drivings: Driving[]
): Client {
  known(options, "connectTimeout");
  const connectTimeout = checkedConnectTimeout(options);
  if (typeof client !== "object" || (client as object | null) === null) {
    throw unreadable(`fromRedis accepts a client of ${packages}`);
  }
  const why = unsupported(client);
  if (why !== null) {
    throw unreadable(why);
  }
  for (const driving of drivings) {
    const driver = driving(client);
    if (driver !== null) {
      return new Client(driver, { connectTimeout });
    }
  }
  throw unreadable(`fromRedis accepts a client of ${packages}`);
}
