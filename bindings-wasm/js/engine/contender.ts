/**
 * One acquire and its grant: what the hub has said of it so far, and who waits to hear more.
 *
 * @module
 */

import { now } from "../clock.js";
import { type FencepostError, LockLost, clientClosed, lostByClosing, notClaimed, notHeld } from "../errors.js";
import { queueMicrotask } from "../host.js";
import type { Settings } from "../hub/hub.js";
import type { ContenderData, Event } from "../hub/outputs.js";
import type { RecordData } from "../hub/records.js";
import { describe } from "./ends.js";

/** Where a contender is. */
export type State = "waiting" | "held" | "releasing" | "released" | "found" | "lost" | "refused" | "closed";

/** Somebody who waits. */
export interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

// Arrays of one's own for every contender would be arrays that hardly anybody looks at.
const NOBODY: readonly Waiter[] = Object.freeze([]);
const NONE_FOUND: readonly ContenderData[] = Object.freeze([]);

/** Changed by the engine alone. */
export class Contender {
  /** The lock, or the operation. */
  readonly lock: string;
  /** Whether it is a claim. After a loss a claim may still be ended: the server decides. */
  readonly isClaim: boolean;
  key = 0;
  /** What its machine was made with. */
  settings: Settings | null = null;
  state: State = "waiting";
  /** Whether it has ever been granted. */
  granted = false;
  fence: bigint | null = null;
  /** A claim: how often the operation had been taken over before. */
  takeovers = 0;
  validUntil: number | null = null;
  suspended = false;
  /** Whether somebody would like to have the lock. */
  revokeRequested = false;
  /** The node of a contender of another layout. */
  mixedLayouts: string | null = null;
  /** What an inspection has found. */
  found: readonly ContenderData[] = NONE_FOUND;
  /** What is stored, as far as the server has said it. */
  record: RecordData | null = null;
  /** How many records a sweep has deleted. */
  deleted = 0;
  /** Whether the operation has another attempt's result. */
  replayed = false;
  /** What has ended it, if it was no release. */
  error: FencepostError | null = null;
  /** Who waits for the acquire. */
  acquiring: Waiter | null = null;
  /** Who waits for the release. */
  releasing: Waiter | null = null;
  /** Who waits for an extension. */
  extending: readonly Waiter[] = NOBODY;
  /** Who waits for a downgrade. */
  turning: Waiter | null = null;
  /** Its grant, until the finalizers know it. */
  fresh: object | null = null;
  #lost: Deferred<LockLost> | null = null;
  #asked: Deferred<undefined> | null = null;
  #controller: AbortController | null = null;

  constructor(lock: string, isClaim = false) {
    this.lock = lock;
    this.isClaim = isClaim;
  }

  /** Whether the machine has said its last word. */
  get over(): boolean {
    const { state } = this;
    return state !== "waiting" && state !== "held" && state !== "releasing" && !this.lapsed;
  }

  /** A claim that is lost and has not been ended. */
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
      this.#controller = new AbortController();
      if (this.error !== null) {
        this.#controller.abort(this.error);
      }
    }
    return this.#controller.signal;
  }

  /** Takes in what its machine has said; `cause` is the client library's own error. */
  tell(event: Event, cause: unknown, at: string): void {
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
        this.#settle("turning");
        break;
      case "lost":
      case "refused": {
        const error = describe(this.lock, event, cause, at);
        if (event.event === "refused" && this.state === "held") {
          // A downgrade: what is held stays held, as it was.
          this.#settle("turning", error);
        } else if (event.event === "refused" && this.state === "releasing" && this.isClaim) {
          // It goes on, and may be ended otherwise.
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

  /** The operation has a result, or a request its answer. */
  #recorded(): void {
    if (this.state === "waiting") {
      this.state = "found";
      this.#settle("acquiring");
    } else {
      this.released();
    }
  }

  /** The end that was asked for: the server has the lock back, or does not need to hear of it. */
  released(): void {
    this.state = "released";
    this.#settle("releasing");
    if (this.extending.length > 0 || this.turning !== null) {
      const error = this.refusal();
      this.#extended(error);
      this.#settle("turning", error);
    }
  }

  /** The server has not confirmed the release in time: who waits for it goes on, and so does the release. */
  unconfirmed(error: FencepostError): void {
    this.#settle("releasing", error);
  }

  /** The client is closing: there is nothing more to hear, and what was held is held no more. */
  close(): void {
    if (this.state === "held") {
      this.end("lost", lostByClosing(this.lock));
    } else if (!this.over && !this.lapsed) {
      this.end("closed", clientClosed());
    }
  }

  /** The end that is no release. */
  end(state: "lost" | "refused" | "closed", error: FencepostError): void {
    const held = this.state === "held" || this.state === "releasing";
    this.state = state;
    this.error = error;
    this.#settle("acquiring", error);
    this.#settle("releasing", error);
    this.#settle("turning", error);
    this.#extended(error);
    if (!held) {
      return;
    }
    if (error instanceof LockLost) {
      this.#lost?.resolve(error);
    }
    const controller = this.#controller;
    if (controller !== null) {
      // Listeners are the user's: they run when we are done.
      queueMicrotask(() => controller.abort(error));
    }
  }

  /** What a call on a grant that is over has to throw. */
  refusal(): FencepostError {
    return this.error ?? (this.isClaim ? notClaimed(this.lock) : notHeld(this.lock));
  }

  #settle(which: "acquiring" | "releasing" | "turning", error?: FencepostError): void {
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
    this.extending = NOBODY;
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
