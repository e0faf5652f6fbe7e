/**
 * Makes a client for an address of ZooKeeper.
 *
 * @module
 */

import { zooKeeperDriver } from "../drivers/zookeeper/by-address.js";
import { loadZooKeeper } from "../hub/families/zookeeper.js";
import { Client } from "./client.js";
import { checkedConnectTimeout } from "./connect-timeout.js";
import { known } from "./options.js";
import { type ConnectOptions, addressOf } from "./reach.js";

/** A client for `zk://…`. */
export async function connectZooKeeper(url: string, options?: ConnectOptions): Promise<Client> {
  const address = addressOf(await loadZooKeeper(), url, "zookeeper");
  known(options, "acl", "connectTimeout");
  const connectTimeout = checkedConnectTimeout(options);
  const driver = await zooKeeperDriver(address, options?.acl);
  return new Client(driver, { prefix: address.prefix, connectTimeout });
}
