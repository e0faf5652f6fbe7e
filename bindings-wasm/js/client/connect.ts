/**
 * From an address to a client. What only one kind of server needs is loaded for that one alone.
 *
 * @module
 */

import type { Acl } from "../drivers/zookeeper/acl.js";
import type { Address } from "../hub/addresses.js";
import { readAddress } from "../hub/hub.js";
import { Client } from "./client.js";
import { type ConnectTimeout, checkedConnectTimeout } from "./connect-timeout.js";
import { known } from "./options.js";

/** Options of {@link connect}. */
export interface ConnectOptions extends ConnectTimeout {
  /** ZooKeeper: the rights on the nodes of the locks (by default everybody may do everything). */
  readonly acl?: readonly Acl[] | undefined;
}

/**
 * A client for the server at `url`: `memory:` and `memory:NAME` (inside this process),
 * `zk://HOST:PORT,HOST:PORT/PREFIX?session_timeout=MS`, `redis://USER:PASSWORD@HOST:PORT/DATABASE`,
 * `rediss://…?ca=PATH`.
 *
 * It imports the client library that the address needs: `node-zookeeper-client` for zk:, `redis` or else
 * `ioredis` for redis:. It does not wait for the server: the first acquire does, within its own timeout.
 *
 * @throws ConfigError for an address that is not valid.
 */
export async function connect(url: string, options?: ConnectOptions): Promise<Client> {
  const address = await parsed(url);
  known(options, ...(address.kind === "zookeeper" ? ["acl"] : []), "connectTimeout");
  const connectTimeout = checkedConnectTimeout(options);
  switch (address.kind) {
    case "memory":
      return new Client(new (await import("../drivers/memory/driver.js")).MemoryDriver(address.name), {
        connectTimeout,
      });
    case "zookeeper": {
      const { zooKeeperDriver } = await import("../drivers/zookeeper/by-address.js");
      const driver = await zooKeeperDriver(address, options?.acl);
      return new Client(driver, { prefix: address.prefix, connectTimeout });
    }
    case "redis": {
      const { redisDriver } = await import("../drivers/redis/by-address.js");
      return new Client(await redisDriver(address), { connectTimeout });
    }
  }
}

/** An address is read by the module that its server needs anyway. */
async function parsed(url: unknown): Promise<Address> {
  if (typeof url === "string" && url.startsWith("redis")) {
    return readAddress((await import("../hub/families/redis.js")).redisModule, url);
  }
  return readAddress((await import("../hub/families/zookeeper.js")).zooKeeperModule, url);
}
