/**
 * Makes a driver for an address, with ioredis.
 *
 * @module
 */

import { library } from "#library/ioredis";

import type { RedisAddress } from "../../hub/addresses.js";
import { exported, unsupportedVersion } from "../packages.js";
import { RedisDriver } from "./driver.js";
import * as ioRedis from "./ioredis.js";
import { at, trusted } from "./place.js";

/** The package to install. */
export const IOREDIS = "ioredis@6";

type Class = new (options: object) => ioRedis.IoRedis;

/** Null if the library is not installed. */
export async function withIoRedis(address: RedisAddress): Promise<RedisDriver | null> {
  const tls = trusted(address);
  const Redis = await found();
  return Redis && new RedisDriver(ioRedis.byAddress(Redis, address, tls), null, at(address));
}

async function found(): Promise<Class | null> {
  const { Redis: named, default: main } = ((await library()) ?? {}) as { Redis?: Class; default?: Class };
  // Before 5.1, the class is only the default export. Before 5, it is a plain function.
  const Redis = exported(named ?? main);
  if (Redis !== null && !Function.prototype.toString.call(Redis).startsWith("class")) {
    throw unsupportedVersion("ioredis", IOREDIS);
  }
  return Redis;
}
