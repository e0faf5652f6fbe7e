/**
 * The kinds of locks that only ZooKeeper has.
 *
 * @module
 */

import type { Grant } from "./grant.js";
import { type AcquireOptions, Lock } from "./lock.js";

/** A lock that readers share and that a writer has alone. Both sides are locks. */
export class ReadWriteLock {
  /**
   * The shared side. A reader gets the lock when no writer holds it or came earlier.
   *
   * The fence of a reader is not lower than the last writer's. A resource refuses a reader whose fence is
   * lower than the highest writer's fence that it has seen, and does not store the fences of readers.
   */
  readonly reader: Lock;
  /** The exclusive side. A writer gets the lock when all contenders that came earlier have left. */
  readonly writer: Lock;

  /** @internal */
  constructor(reader: Lock, writer: Lock) {
    this.reader = reader;
    this.writer = writer;
  }

  /** The lock's name. */
  get name(): string {
    return this.writer.name;
  }
}

/** A lock whose holder leads. */
export class Election extends Lock {
  /**
   * Waits until this candidate leads. It is {@link Lock.acquire} under the name that elections use. The grant
   * is a term: the candidate leads until it releases the grant or loses it. With a `timeout` it returns null
   * if other candidates led all the time.
   *
   * @throws as {@link Lock.acquire} does.
   */
  campaign(options: AcquireOptions & { readonly timeout: number }): Promise<Grant | null>;
  campaign(options?: AcquireOptions & { readonly timeout?: undefined }): Promise<Grant>;
  campaign(options?: AcquireOptions): Promise<Grant | null>;
  campaign(options?: AcquireOptions): Promise<Grant | null> {
    return this.acquire(options);
  }
}
