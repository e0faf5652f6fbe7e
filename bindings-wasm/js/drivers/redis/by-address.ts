/**
 * From an address to a driver, with the client library that is there.
 *
 * @module
 */

import type { RedisAddress } from "../../hub/addresses.js";
import { absent, missing, nothing } from "../packages.js";
import { certificates } from "./certificates.js";
import { RedisDriver } from "./driver.js";
import * as ioRedis from "./ioredis.js";
import * as nodeRedis from "./node-redis.js";

/** With `redis`, or else `ioredis`. */
export async function redisDriver(address: RedisAddress): Promise<RedisDriver> {
  const { host, port, tls, ca } = address;
  const trusted = !tls ? undefined : ca === "" ? {} : { ca: certificates(ca) };
  const at = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const createClient = await nodeRedisClass();
  if (createClient !== null) {
    const library = nodeRedis.byAddress(createClient as nodeRedis.CreateClient, address, trusted);
    return new RedisDriver(library, null, at);
  }
  const Redis = await ioRedisClass();
  if (Redis !== null) {
    return new RedisDriver(ioRedis.byAddress(Redis, address, trusted), null, at);
  }
  throw missing("redis or ioredis");
}

async function nodeRedisClass() {
  try {
    return nothing((await import("redis")).createClient);
  } catch (error) {
    return absent(error);
  }
}

async function ioRedisClass() {
  try {
    const library = (await import("ioredis")) as unknown as { Redis?: IoRedisClass; default?: IoRedisClass };
    // Before 5.1 the class is the default export alone.
    return nothing(library.Redis ?? library.default);
  } catch (error) {
    return absent(error);
  }
}

type IoRedisClass = new (options: object) => ioRedis.IoRedis;
