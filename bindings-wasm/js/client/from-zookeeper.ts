/**
 * Makes a client from a connection to ZooKeeper.
 *
 * @module
 */

import { type Acl, checkedAcl } from "../drivers/acl.js";
import { ZooKeeperDriver } from "../drivers/zookeeper/driver.js";
import { STATE, type ZkClient, isZkClient } from "../drivers/zookeeper/library.js";
import { unreadable } from "../errors.js";
import { Client } from "./client.js";
import { type ConnectTimeout, checkedConnectTimeout } from "./connect-timeout.js";
import { known } from "./options.js";

/** Options of {@link fromZooKeeper}. */
export interface ZooKeeperOptions extends ConnectTimeout {
  /** The path below which the locks lie (the root). */
  readonly prefix?: string | undefined;
  /** The rights on the nodes of the locks (by default every client may do everything). */
  readonly acl?: readonly Acl[] | undefined;
}

/**
 * A client on a connection that the program already has: a client of `node-zookeeper-client`, or a function that makes
 * such clients. fencepost never closes a given client, and cannot use it after its session has expired. fencepost calls
 * a given function again then; each call has to return a client that was never connected.
 *
 * @throws ConfigError for anything else, and for a client that has been closed or was never connected.
 */
export function fromZooKeeper(client: object | (() => object), options?: ZooKeeperOptions): Client {
  known(options, "prefix", "acl", "connectTimeout");
  const connectTimeout = checkedConnectTimeout(options);
  const { prefix = "", acl } = options ?? {};
  if (typeof prefix !== "string") {
    throw unreadable("prefix has to be a string");
  }
  if (typeof client === "function") {
    const make = () => checked((client as () => object)());
    return new Client(new ZooKeeperDriver({ make }, checkedAcl(acl)), { prefix, connectTimeout });
  }
  const given = checked(client);
  const { state, socket } = given.connectionManager;
  if (state === STATE.disconnected && socket === undefined) {
    throw unreadable("the ZooKeeper client was never connected: call its connect() first");
  }
  if (state < STATE.disconnected) {
    throw unreadable("the ZooKeeper client has been closed");
  }
  return new Client(new ZooKeeperDriver({ client: given }, checkedAcl(acl)), { prefix, connectTimeout });
}

function checked(client: unknown): ZkClient {
  if (typeof client !== "object" || client === null || !isZkClient(client)) {
    throw unreadable("fromZooKeeper accepts a client of the package node-zookeeper-client");
  }
  return client;
}
