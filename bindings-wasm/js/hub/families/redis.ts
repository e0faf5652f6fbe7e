/**
 * The module for Redis.
 *
 * @module
 */

import { location } from "#location/redis";

import * as glue from "../glue/fencepost_redis.js";
import { Wasm } from "../wasm.js";
import type { Module } from "./module.js";

const wasm = new Wasm("redis", glue, location);

/** @internal The compiled module. */
export function redisModule(): Module {
  return wasm.get();
}

/** @internal Resolves to the compiled module, even where the file has to be requested from a server. */
export function loadRedis(): Promise<Module> {
  return wasm.load();
}

/**
 * Whether an error of a Redis server means that the server is a replica. The error begins with its code.
 *
 * If so, and the driver made the connection, it ends the connection and resolves the address again. On a connection of
 * the program, it does nothing. In both cases, it reports the reply to the hub.
 */
export function isFromReplica(error: string): boolean {
  return wasm.get().isFromReplica(error);
}
