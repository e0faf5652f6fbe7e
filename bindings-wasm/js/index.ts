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
export { type ConnectOptions, connect } from "./client/connect.js";
export { type RedisOptions, fromRedis } from "./client/from-redis.js";
export { type ZooKeeperOptions, fromZooKeeper } from "./client/from-zookeeper.js";
export type { Acl } from "./drivers/zookeeper/acl.js";
export { Claim, type CompleteOptions } from "./client/claim.js";
export { Grant } from "./client/grant.js";
export type { ClaimOptions } from "./client/claim-options.js";
export {
  Idempotency,
  type RegisterOptions,
  type Stored,
  type TokenOptions,
  type UpdateOptions,
} from "./client/idempotency.js";
export { type AcquireOptions, Lock } from "./client/lock.js";
export type { Owner } from "./client/options.js";
export type { Codec, ErrorClass, Once, OnceOptions, Outcome } from "./client/once.js";
export type { Bytes } from "./client/bytes.js";
export { Election, ReadWriteLock } from "./client/kinds.js";
export {
  CleanupIncomplete,
  ConfigError,
  Conflict,
  DriverError,
  FencepostError,
  InProgress,
  LockLost,
  MisuseError,
  NotAcquired,
  Refused,
  ReleaseUnconfirmed,
  StoredError,
} from "./errors.js";
export { Hub, Scope, Settings, parseAddress } from "./hub/public.js";
export { isFromReplica } from "./hub/families/redis.js";
export { handshakeTimeout } from "./hub/families/zookeeper.js";
export type { Failure, Family, RedisValue, SessionState, Stat } from "./hub/hub.js";
export { MemoryServer } from "./hub/memory/server.js";
export type { Signal } from "./client/signal.js";
export type {
  ElectionOptions,
  IdempotencyOptions,
  LockOptions,
  MultiLockOptions,
  ReadWriteLockOptions,
  SemaphoreOptions,
} from "./hub/lock-options.js";
export type { RecordData } from "./hub/records.js";
export type { ScopeData } from "./hub/scope.js";
export type { Layout, SettingsData, ZooKeeperLockOptions, ZooKeeperSettings } from "./hub/settings.js";
export type { Address, Credentials, RedisAddress } from "./hub/addresses.js";
export type { Argument } from "./hub/arguments.js";
export type {
  Cause,
  Command,
  ContenderData,
  Event,
  GrantData,
  NodeCommand,
  Output,
  Part,
  Reason,
  RedisCommand,
  Target,
  Wait,
} from "./hub/outputs.js";
