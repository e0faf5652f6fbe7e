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

/** @internal Resolves to the compiled module, also where reading its file takes a request. */
export function loadZooKeeper(): Promise<Module> {
  return wasm.load();
}

/**
 * How long a driver waits for a ZooKeeper server to answer the handshake of a connection, in milliseconds. It depends
 * on the session timeout, in milliseconds, and on how many handshakes in a row have failed. A server that is starting
 * accepts connections and never answers them.
 */
export function handshakeTimeout(sessionTimeout: number, failures: number): number {
  return wasm.get().handshakeTimeout(sessionTimeout, failures);
}
