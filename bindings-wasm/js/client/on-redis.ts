/**
 * Makes a client for an address of Redis, with any library.
 *
 * @module
 */

import { missing } from "../drivers/packages.js";
import type { RedisDriver } from "../drivers/redis/driver.js";
import { DriverError } from "../errors.js";
import type { RedisAddress } from "../hub/addresses.js";
import { loadRedis } from "../hub/families/redis.js";
import { Client } from "./client.js";
import { checkedConnectTimeout } from "./connect-timeout.js";
import type { RedisOptions } from "./given-redis.js";
import { known } from "./options.js";
import { addressOf } from "./reach.js";

/** A driver, or null where its library is not installed. */
type Way = (address: RedisAddress) => Promise<RedisDriver | null>;

/**
 * A client for `redis://…` or `rediss://…`, over the first library that is installed. `packages`: what to install if
 * there is none.
 */
export async function onRedis(
  url: string,
  options: RedisOptions | undefined,
  packages: string,
  ...ways: Way[]
): Promise<Client> {
  const address = addressOf(await loadRedis(), url, "redis");
  known(options, "connectTimeout");
  const connectTimeout = checkedConnectTimeout(options);
  let unsupported: DriverError | undefined;
  for (const way of ways) {
    try {
      const driver = await way(address);
      if (driver !== null) {
        return new Client(driver, { connectTimeout });
      }
    } catch (error) {
      if (!(error instanceof DriverError)) {
        throw error;
      }
      // fencepost may support the next library.
      unsupported ??= error;
    }
  }
  throw unsupported ?? missing("Redis", packages);
}
