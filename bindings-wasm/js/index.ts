/**
 * Distributed locks with fences over the ZooKeeper or Redis connection that you already have.
 *
 * ```ts
 * await using client = await connect("redis://localhost");
 * await using grant = await client.lock("stock/42").acquire({ timeout: 200 });
 * if (grant) await sell(42, { fence: grant.fence, signal: grant.signal });
 * ```
 *
 * @module fencepost
 */

export * from "./entries/client.js";
export { connect } from "./client/connect.js";
export { ClientSession, MemoryControls, memoryServer } from "./client/memory-server.js";
export type { ConnectOptions } from "./client/reach.js";
export { fromRedis } from "./client/from-redis.js";
export type { RedisOptions } from "./client/given-redis.js";
export { type ZooKeeperOptions, fromZooKeeper } from "./client/from-zookeeper.js";
export type { Acl } from "./drivers/acl.js";
export * from "./entries/hub.js";
