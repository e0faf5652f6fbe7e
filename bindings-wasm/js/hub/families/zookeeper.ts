/**
 * The module for ZooKeeper, and for `memory:`, which is a model of ZooKeeper.
 *
 * @module
 */

import { location } from "#location/zookeeper";

import * as glue from "../glue/fencepost_zookeeper.js";
import { Wasm } from "../wasm.js";
import type { Module } from "./module.js";

const wasm = new Wasm("zookeeper", glue, location);

/** @internal The compiled module. */
export function zooKeeperModule(): Module {
  return wasm.get();
}

/** @internal Resolves to the compiled module, even where the file has to be requested from a server. */
export function loadZooKeeper(): Promise<Module> {
  return wasm.load();
}

/**
 * How long a driver waits for a ZooKeeper server to reply to the handshake of a connection, in milliseconds. It depends
 * on the session timeout, in milliseconds, and on how many handshakes in a row have failed. A server that is starting
 * accepts connections and never replies on them.
 */
export function handshakeTimeout(sessionTimeout: number, failures: number): number {
  return wasm.get().handshakeTimeout(sessionTimeout, failures);
}
