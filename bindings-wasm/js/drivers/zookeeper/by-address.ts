/**
 * Makes a driver for an address, with the client library that is installed.
 *
 * @module
 */

import { library } from "#library/node-zookeeper-client";

import type { Address } from "../../hub/addresses.js";
import { exported, missing, unsupportedVersion } from "../packages.js";
import { type Acl, checkedAcl } from "../acl.js";
import { ZooKeeperDriver } from "./driver.js";
import { type ZkClient, isZkClient, withServers } from "./library.js";

/** The package to install. */
const PACKAGE = "node-zookeeper-client@1.1.3";

/** `given` is the ACL, unchecked. */
export async function zooKeeperDriver(
  { hosts, sessionTimeout }: Extract<Address, { kind: "zookeeper" }>,
  given: readonly Acl[] | undefined,
): Promise<ZooKeeperDriver> {
  const acl = checkedAcl(given);
  const createClient = exported((await library())?.default.createClient);
  if (createClient === null) {
    throw missing("ZooKeeper", PACKAGE);
  }
  const client = () => createClient(hosts, { sessionTimeout, retries: 0 }) as unknown as ZkClient;
  if (!isZkClient(client())) {
    throw unsupportedVersion("node-zookeeper-client", PACKAGE);
  }
  return new ZooKeeperDriver({ make: () => withServers(client(), hosts) }, acl, hosts);
}
