/**
 * The module for ZooKeeper, and for `memory:`, which is a model of ZooKeeper.
 *
 * @module
 */

import { bytes } from "../base64.js";
import * as glue from "../glue/fencepost_zookeeper.js";
import { base64 } from "../glue/zookeeper.js";
import type { Module } from "./module.js";

let compiled = false;

/** @internal The compiled module. */
export function zooKeeperModule(): Module {
  if (!compiled) {
    glue.initSync({ module: bytes(base64) });
    compiled = true;
  }
  return glue;
}

/**
 * How long a driver waits for a ZooKeeper server to answer the handshake of a connection, in milliseconds. It depends
 * on the session timeout, in milliseconds, and on how many handshakes in a row have failed. A server that is starting
 * accepts connections and never answers them.
 */
export function handshakeTimeout(sessionTimeout: number, failures: number): number {
  zooKeeperModule();
  return glue.handshakeTimeout(sessionTimeout, failures);
}
