/**
 * Makes a client for `memory:`.
 *
 * @module
 */

import { MemoryDriver } from "../drivers/memory/driver.js";
import { checkedAcl } from "../drivers/acl.js";
import { loadZooKeeper } from "../hub/families/zookeeper.js";
import { memoryModule } from "../hub/memory/module.js";
import { Client } from "./client.js";
import { checkedConnectTimeout } from "./connect-timeout.js";
import { known } from "./options.js";
import { type ConnectOptions, addressOf } from "./reach.js";

/** A client for `memory:` or `memory:NAME?session_timeout=MS`. It checks the option `acl`, and permits everything. */
export async function connectMemory(url: string, options?: ConnectOptions): Promise<Client> {
  const { name, sessionTimeout } = addressOf(await loadZooKeeper(), url, "memory");
  known(options, "acl", "connectTimeout");
  checkedAcl(options?.acl);
  const connectTimeout = checkedConnectTimeout(options);
  await memoryModule.load();
  const driver = new MemoryDriver(name, sessionTimeout);
  const client = new Client(driver, { connectTimeout });
  driver.serves(client);
  return client;
}
