/**
 * `fencepost/hub`: the hub, for programs that have their own event loop and connection.
 *
 * @module fencepost/hub
 */

export { Hub, Scope, Settings, parseAddress } from "../hub/public.js";
export { load } from "../hub/load.js";
export { isFromReplica } from "../hub/families/redis.js";
export { handshakeTimeout } from "../hub/families/zookeeper.js";
export type { Failure, Family, RedisValue, SessionState, Stat } from "../hub/hub.js";
export { MemoryServer } from "../hub/memory/server.js";
export type { MemoryMessage, MemoryNode, MemorySession } from "../hub/memory/reports.js";
export type { WasmName } from "../hub/wasm-name.js";
export type { ScopeData } from "../hub/scope.js";
export type { Layout, SettingsData, ZooKeeperLockOptions, ZooKeeperSettings } from "../hub/settings.js";
export type { Address, Credentials, RedisAddress } from "../hub/addresses.js";
export type { Argument } from "../hub/arguments.js";
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
} from "../hub/outputs.js";
export { ConfigError, DriverError, FencepostError, MisuseError } from "../errors.js";
export type { RecordData } from "../hub/records.js";
