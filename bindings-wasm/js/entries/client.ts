/**
 * The exports of every entry with a client.
 *
 * @module
 */

export { Client } from "../client/client.js";
export { Claim, type CompleteOptions } from "../client/claim.js";
export { Grant } from "../client/grant.js";
export type { ClaimOptions } from "../client/claim-options.js";
export {
  Idempotency,
  type RegisterOptions,
  type Stored,
  type TokenOptions,
  type UpdateOptions,
} from "../client/idempotency.js";
export { type AcquireOptions, Lock } from "../client/lock.js";
export type { Owner } from "../client/options.js";
export type { Codec } from "../client/codec.js";
export type { ErrorClass, Once, OnceOptions, Outcome } from "../client/once.js";
export type { Bytes } from "../client/bytes.js";
export { Election, ReadWriteLock } from "../client/kinds.js";
export {
  ClaimLost,
  CleanupIncomplete,
  ConfigError,
  Conflict,
  DriverError,
  FencepostError,
  InProgress,
  Indeterminate,
  LockLost,
  Mismatch,
  MisuseError,
  NotAcquired,
  Refused,
  ReleaseUnconfirmed,
  StoredError,
} from "../errors.js";
export type { Signal } from "../client/signal.js";
export type {
  ElectionOptions,
  IdempotencyOptions,
  LockOptions,
  MultiLockOptions,
  ReadWriteLockOptions,
  SemaphoreOptions,
} from "../hub/lock-options.js";
export type { RecordData } from "../hub/records.js";
export type { ContenderData } from "../hub/outputs.js";
