/**
 * The module for ZooKeeper, and for `memory:`, which is a model of it.
 *
 * @module
 */

import { bytes } from "../base64.js";
import * as glue from "../glue/fencepost_zookeeper.js";
import { base64 } from "../glue/zookeeper.js";
import type { Module } from "./module.js";

let compiled = false;

/** @internal The module, compiled. */
export function zooKeeperModule(): Module {
  if (!compiled) {
    glue.initSync({ module: bytes(base64) });
    compiled = true;
  }
  return glue;
}

/**
 * How long a ZooKeeper server may take to answer the handshake of a connection, in milliseconds: of a session's timeout in milliseconds,
 * after so many failures in a row. A server that starts accepts connections that it never answers.
 */
export function handshakeTimeout(sessionTimeout: number, failures: number): number {
  zooKeeperModule();
  return glue.handshakeTimeout(sessionTimeout, failures);
}
