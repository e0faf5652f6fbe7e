/**
 * Makes a driver for an address, with node-redis.
 *
 * @module
 */

import { library } from "#library/redis";

import type { RedisAddress } from "../../hub/addresses.js";
import { exported, unsupportedVersion } from "../packages.js";
import { RedisDriver } from "./driver.js";
import * as nodeRedis from "./node-redis.js";
import { at, trusted } from "./place.js";

/** The package to install. */
export const NODE_REDIS = "redis@6";

/** Null if the library is not installed. */
export async function withNodeRedis(address: RedisAddress): Promise<RedisDriver | null> {
  const tls = trusted(address);
  const createClient = await created();
  const made = createClient && nodeRedis.byAddress(createClient as nodeRedis.CreateClient, address, tls);
  return made && new RedisDriver(made, null, at(address));
}

async function created() {
  const { createClient, createSentinel } = (await library()) ?? {};
  if (exported(createClient) !== null && exported(createSentinel) === null) {
    // The version is older than 5.
    throw unsupportedVersion("redis", NODE_REDIS);
  }
  return exported(createClient);
}
