/**
 * The module for Redis.
 *
 * @module
 */

import { bytes } from "../base64.js";
import * as glue from "../glue/fencepost_redis.js";
import { base64 } from "../glue/redis.js";
import type { Module } from "./module.js";

let compiled = false;

/** @internal The compiled module. */
export function redisModule(): Module {
  if (!compiled) {
    glue.initSync({ module: bytes(base64) });
    compiled = true;
  }
  return glue;
}

/**
 * Whether an error of a Redis server says that the server is a replica. The error begins with its code. If so, and the
 * driver made the connection, it ends the connection and resolves the address again. On a connection of the program, it
 * does nothing. In both cases, it reports the answer to the hub.
 */
export function isFromReplica(error: string): boolean {
  redisModule();
  return glue.isFromReplica(error);
}
