/**
 * Locks of other kinds than the plain one: ZooKeeper's.
 *
 * @module
 */

import type { Grant } from "./grant.js";
import { type AcquireOptions, Lock } from "./lock.js";

/** A lock that readers share and a writer has alone. Its sides are locks like any other. */
export class ReadWriteLock {
  /**
   * The shared side: granted while no writer holds the lock or came earlier.
   *
   * The fence of a reader is no older than the last writer's: a resource refuses a reader whose fence is below the highest writer's that it has seen, and
   * does not raise that for a reader.
   */
  readonly reader: Lock;
  /** The exclusive side: granted when everybody who came earlier is gone. */
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
   * Waits until this candidate leads: {@link Lock.acquire}, as elections call it. The grant is a term: it lasts until it is released or lost. With a
   * `timeout` it gives null when others led all the time.
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
