/**
 * Makes a client for an address. It loads only the code that the kind of server needs.
 *
 * @module
 */

import type { Client } from "./client.js";
import type { ConnectOptions } from "./reach.js";

/**
 * A client for the server at `url`: `memory:` and `memory:NAME` (inside this process),
 * `zk://HOST:PORT,HOST:PORT/PREFIX?session_timeout=MS`, `redis://USER:PASSWORD@HOST:PORT/DATABASE`,
 * `rediss://…?ca=PATH`.
 *
 * It imports the client library that the address needs: `node-zookeeper-client` for zk:, `redis` or else
 * `ioredis` for redis:. It does not wait for the server: the first acquire does, within its own timeout.
 *
 * @throws ConfigError for an address that is not valid; DriverError if the client library is not installed
 * (`driver-missing`) or too old (`driver-unsupported`).
 */
export async function connect(url: string, options?: ConnectOptions): Promise<Client> {
  const scheme = typeof url === "string" ? url.toLowerCase() : "";
  if (scheme.startsWith("redis")) {
    return (await import("./connect-redis.js")).connectRedis(url, options);
  }
  if (scheme.startsWith("memory")) {
    return (await import("./connect-memory.js")).connectMemory(url, options);
  }
  // Any module refuses a value that is not an address.
  return (await import("./connect-zookeeper.js")).connectZooKeeper(url, options);
}
