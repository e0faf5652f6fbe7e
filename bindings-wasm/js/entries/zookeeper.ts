/**
 * `fencepost/zookeeper`: clients over `node-zookeeper-client`.
 *
 * @module fencepost/zookeeper
 */

export * from "./client.js";
export { connectZooKeeper as connect } from "../client/connect-zookeeper.js";
export { type ZooKeeperOptions, fromZooKeeper } from "../client/from-zookeeper.js";
export type { ConnectOptions } from "../client/reach.js";
export type { Acl } from "../drivers/acl.js";
