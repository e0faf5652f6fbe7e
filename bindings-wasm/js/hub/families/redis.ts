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

/** @internal The module, compiled. */
export function redisModule(): Module {
  if (!compiled) {
    glue.initSync({ module: bytes(base64) });
    compiled = true;
  }
  return glue;
}

/**
 * Whether an error of a Redis server, from its code on, says that the server is a replica.
 *
 * On such an answer a driver drops this connection and resolves the server's address again, if the driver made the connection; on
 * the caller's own connection it does nothing. The hub gets the answer in any case.
 */
export function isFromReplica(error: string): boolean {
  redisModule();
  return glue.isFromReplica(error);
}
