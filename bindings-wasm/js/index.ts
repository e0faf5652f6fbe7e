/**
 * Distributed locks with fences over the ZooKeeper or Redis connection that you already have.
 *
 * ```ts
 * await using client = await connect("redis://localhost");
 * await using grant = await client.lock("stock/42").acquire({ timeout: 200 });
 * if (grant) await sell(42, { fence: grant.fence, signal: grant.signal });
 * ```
 *
 * @packageDocumentation
 */

export { Client } from "./client/client.js";
export {
  type ConnectOptions,
  type RedisOptions,
  type ZooKeeperOptions,
  connect,
  fromRedis,
  fromZooKeeper,
} from "./client/connect.js";
export type { Acl } from "./drivers/zookeeper/acl.js";
export { Grant } from "./client/grant.js";
export { type AcquireOptions, Lock } from "./client/lock.js";
export type { LockOptions, Owner, ReadWriteLockOptions, ZooKeeperLockOptions } from "./client/options.js";
export { Election, ReadWriteLock } from "./client/recipes.js";
export {
  CleanupIncomplete,
  ConfigError,
  DriverError,
  FencepostError,
  LockLost,
  MisuseError,
  NotAcquired,
  Refused,
  ReleaseUnconfirmed,
} from "./errors.js";
export {
  type Failure,
  type Family,
  Hub,
  type RedisValue,
  type SessionState,
  Settings,
  type Stat,
  isFromReplica,
  parseAddress,
} from "./hub.js";
export { MemoryServer } from "./memory/server.js";
export type { Signal } from "./signal.js";
export type { Layout, SettingsData, ZooKeeperSettings } from "./settings.js";
export type {
  Address,
  Argument,
  Cause,
  Command,
  ContenderData,
  Credentials,
  Event,
  GrantData,
  NodeCommand,
  Output,
  Part,
  Reason,
  RedisAddress,
  RedisCommand,
  Target,
  Wait,
} from "./outputs.js";
