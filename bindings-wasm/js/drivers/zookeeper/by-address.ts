/**
 * From an address to a driver, with the client library that is there.
 *
 * @module
 */

import type { Address } from "../../hub/addresses.js";
import { isMissing, missing, nothing } from "../packages.js";
import { type Acl, checkedAcl } from "./acl.js";
import { ZooKeeperDriver } from "./driver.js";
import { type ZkClient, withServers } from "./library.js";

/** `given`: who may do what with the nodes, unchecked. */
export async function zooKeeperDriver(
  { hosts, sessionTimeout }: Extract<Address, { kind: "zookeeper" }>,
  given: readonly Acl[] | undefined,
): Promise<ZooKeeperDriver> {
  const acl = checkedAcl(given);
  // Bundlers let a package be absent whose import they see in a `try`.
  try {
    const createClient = nothing((await import("node-zookeeper-client")).default.createClient);
    if (createClient === null) {
      throw missing("node-zookeeper-client");
    }
    const make = () => withServers(createClient(hosts, { sessionTimeout, retries: 0 }) as unknown as ZkClient, hosts);
    return new ZooKeeperDriver({ make }, acl, hosts);
  } catch (error) {
    throw isMissing(error) ? missing("node-zookeeper-client", error) : error;
  }
}
