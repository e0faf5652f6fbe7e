/**
 * One acquire and its grant: its state, as the hub has reported it, and the calls that wait for it.
 *
 * @module
 */

import { now } from "../clock.js";
import { type FencepostError, LockLost, clientClosed, lostByClosing, notClaimed, notHeld } from "../errors.js";
import { presentContext, queueMicrotask } from "../host.js";
import type { Settings } from "../hub/hub.js";
import type { ContenderData, Event } from "../hub/outputs.js";
import type { RecordData } from "../hub/records.js";
import { describe } from "./ends.js";
import type { Item } from "./list.js";

/** The state of a contender. */
export type State = "waiting" | "held" | "releasing" | "released" | "found" | "lost" | "refused" | "closed";

/** A call that waits. */
export interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

// Contenders without waiters share this array; those without results of an inspection share the next one.
const NO_WAITERS: readonly Waiter[] = Object.freeze([]);
const NONE_FOUND: readonly ContenderData[] = Object.freeze([]);

/** Only the engine changes it. */
export class Contender {
  /** The lock, or the operation. */
  readonly lock: string;
  /** Whether it is a claim. After a loss, the program may still end a claim, and the server decides. */
  readonly isClaim: boolean;
  key = 0;
  /** The settings of its machine. */
  settings: Settings | null = null;
  state: State = "waiting";
  /** Whether it has had a grant. */
  granted = false;
  fence: bigint | null = null;
  /** A claim: how many takeovers the operation had before. */
  takeovers = 0;
  validUntil: number | null = null;
  suspended = false;
  /** Whether another client has requested the lock. */
  revokeRequested = false;
  /** The node of a contender of another layout. */
  mixedLayouts: string | null = null;
  /** The contenders that an inspection found. */
  found: readonly ContenderData[] = NONE_FOUND;
  /** The stored record that the server reported. */
  record: RecordData | null = null;
  /** How many records a sweep has deleted. */
  deleted = 0;
  /** Whether the result is that of another attempt. */
  replayed = false;
  /** Why it ended, unless it was released. */
  error: FencepostError | null = null;
  /** The call that waits for the acquire. */
  acquiring: Waiter | null = null;
  /** The call that waits for the release. */
  releasing: Waiter | null = null;
  /** The calls that wait for an extend. */
  extending: readonly Waiter[] = NO_WAITERS;
  /** The call that waits for a downgrade. */
  downgrading: Waiter | null = null;
  /** Its item in the list of contenders that wait for the first connection, or for the confirmation of a release. */
  deadline: Item<unknown> | null = null;
  /** Its grant, until it is registered with the finalizers. */
  fresh: object | null = null;
  #lost: Deferred<LockLost> | null = null;
  #asked: Deferred<undefined> | null = null;
  #controller: AbortController | null = null;
  /** Aborts the signal, in the context in which the program requested it. */
  #abort: ((error: FencepostError) => void) | null = null;

  constructor(lock: string, isClaim = false) {
    this.lock = lock;
    this.isClaim = isClaim;
  }

  /** Whether the machine reports no more events. */
  get over(): boolean {
    const { state } = this;
    return state !== "waiting" && state !== "held" && state !== "releasing" && !this.lapsed;
  }

  /** Whether it is a claim that is lost and has not been ended. */
  get lapsed(): boolean {
    return this.isClaim && this.state === "lost";
  }

  get valid(): boolean {
    return this.state === "held" && !this.suspended && (this.validUntil === null || now() < this.validUntil);
  }

  get remaining(): number {
    if (!this.valid) {
      return 0;
    }
    return this.validUntil === null ? Infinity : Math.max(0, this.validUntil - now());
  }

  get lost(): Promise<LockLost> {
    this.#lost ??= deferred();
    if (this.state === "lost" && this.error instanceof LockLost) {
      this.#lost.resolve(this.error);
    }
    return this.#lost.promise;
  }

  get asked(): Promise<undefined> {
    this.#asked ??= deferred();
    if (this.revokeRequested) {
      this.#asked.resolve(undefined);
    }
    return this.#asked.promise;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      const [controller, context] = [new AbortController(), presentContext()];
      this.#controller = controller;
      this.#abort = (error) => context(() => controller.abort(error));
      if (this.error !== null) {
        controller.abort(this.error);
      }
    }
    return this.#controller.signal;
  }

  /** Handles an event of its machine; `cause` is the client library's own error. */
  onEvent(event: Event, cause: unknown, at: string): void {
    switch (event.event) {
      case "acquired":
        this.state = "held";
        this.granted = true;
        this.fence = event.grant.fence;
        this.takeovers = event.grant.takeovers;
        this.validUntil = event.grant.validUntil;
        this.#settle("acquiring");
        break;
      case "extended":
      case "resumed":
        this.suspended = false;
        this.validUntil = event.validUntil;
        this.#extended();
        break;
      case "suspended":
        this.suspended = true;
        break;
      case "found":
        this.state = "found";
        this.found = event.contenders;
        this.#settle("acquiring");
        break;
      case "revoke-requested":
        this.revokeRequested = true;
        this.#asked?.resolve(undefined);
        break;
      case "mixed-layouts":
        this.mixedLayouts = event.node;
        break;
      case "completed":
      case "replayed":
      case "looked":
        this.record = event.record;
        this.replayed = event.event === "replayed";
        this.#recorded();
        break;
      case "swept":
        this.deleted = event.deleted;
        this.#recorded();
        break;
      case "released":
        this.released();
        break;
      case "downgraded":
        this.#settle("downgrading");
        break;
      case "lost":
      case "refused": {
        const error = describe(this, event, cause, at);
        if (event.event === "refused" && this.state === "held") {
          // A refused downgrade: the grant is unchanged.
          this.#settle("downgrading", error);
        } else if (event.event === "refused" && this.state === "releasing" && this.isClaim) {
          // The claim does not end. The program may end it in another way.
          this.state = "held";
          this.#settle("releasing", error);
        } else {
          this.end(event.event, error);
        }
        break;
      }
      case "queued":
        break;
    }
  }

  /** The operation has a result, or a request has its reply. */
  #recorded(): void {
    if (this.state === "waiting") {
      this.state = "found";
      this.#settle("acquiring");
    } else {
      this.released();
    }
  }

  /** The grant has ended as the program requested. The server has confirmed this, if that was necessary. */
  released(): void {
    this.state = "released";
    this.#settle("releasing");
    if (this.extending.length > 0 || this.downgrading !== null) {
      const error = this.refusal();
      this.#extended(error);
      this.#settle("downgrading", error);
    }
  }

  /**
   * The server has not confirmed the release in time. The waiting call ends with an error, and the release continues.
   */
  unconfirmed(error: FencepostError): void {
    this.#settle("releasing", error);
  }

  /** The client closes: no more events will come, and a grant is lost. */
  close(): void {
    if (this.state === "held") {
      this.end("lost", lostByClosing(this.lock, this.isClaim));
    } else if (!this.over && !this.lapsed) {
      this.end("closed", clientClosed());
    }
  }

  /** The contender ends, but not by a release. */
  end(state: "lost" | "refused" | "closed", error: FencepostError): void {
    const held = this.state === "held" || this.state === "releasing";
    this.state = state;
    this.error = error;
    this.#settle("acquiring", error);
    this.#settle("releasing", error);
    this.#settle("downgrading", error);
    this.#extended(error);
    if (!held) {
      return;
    }
    if (error instanceof LockLost) {
      this.#lost?.resolve(error);
    }
    const abort = this.#abort;
    if (abort !== null) {
      // Listeners are the program's code, so they run later.
      queueMicrotask(() => abort(error));
    }
  }

  /** The error of a call on a grant that has ended. */
  refusal(): FencepostError {
    return this.error ?? (this.isClaim ? notClaimed(this.lock) : notHeld(this.lock));
  }

  #settle(which: "acquiring" | "releasing" | "downgrading", error?: FencepostError): void {
    const waiter = this[which];
    this[which] = null;
    if (error === undefined) {
      waiter?.resolve();
    } else {
      waiter?.reject(error);
    }
  }

  #extended(error?: FencepostError): void {
    if (this.extending.length === 0) {
      return;
    }
    const waiters = this.extending;
    this.extending = NO_WAITERS;
    for (const waiter of waiters) {
      if (error === undefined) {
        waiter.resolve();
      } else {
        waiter.reject(error);
      }
    }
  }
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

function deferred<T>(): Deferred<T> {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
