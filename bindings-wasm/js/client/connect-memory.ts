/**
 * From `memory:` to a client.
 *
 * @module
 */

import { MemoryDriver } from "../drivers/memory/driver.js";
import { loadZooKeeper } from "../hub/families/zookeeper.js";
import { memoryModule } from "../hub/memory/module.js";
import { Client } from "./client.js";
import { type ConnectTimeout, checkedConnectTimeout } from "./connect-timeout.js";
import { known } from "./options.js";
import { addressOf } from "./reach.js";

/** A client for `memory:` or `memory:NAME`. */
export async function connectMemory(url: string, options?: ConnectTimeout): Promise<Client> {
  const { name } = addressOf(await loadZooKeeper(), url, "memory");
  known(options, "connectTimeout");
  const connectTimeout = checkedConnectTimeout(options);
  await memoryModule.load();
  const driver = new MemoryDriver(name);
  const client = new Client(driver, { connectTimeout });
  driver.serves(client);
  return client;
}
