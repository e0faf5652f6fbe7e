/**
 * The timers of a client: those of the hub, of releases that the server has not confirmed, and of acquires that have no
 * connection yet.
 *
 * @module
 */

import { now } from "../clock.js";
import { ReleaseUnconfirmed } from "../errors.js";
import type { Contender } from "./contender.js";
import { Deadlines, forgetDeadline } from "./deadlines.js";
import { Alarm, Grace } from "./timers.js";

/**
 * How long a release waits for the server's reply, in ms. A close has the same time for that and for closing its
 * connection.
 */
export const CONFIRM_WITHIN = 5000;

/**
 * How much of that time a close reserves for closing its connection, in ms. A ZooKeeper session ends at once if its
 * client closes it.
 */
export const CLOSE_TIME = 250;

/** The part of the engine that the timers use. */
export interface Timed {
  /** Contenders that a call waits for, or that have a grant. */
  contenders(): Iterable<Contender>;
  /** A timer of the hub may be due. */
  due(): void;
  /** An acquire has waited too long for the first connection. */
  notConnected(contender: Contender): void;
}

/** The timers of one client. */
export class Schedule {
  readonly #timed: Timed;
  readonly #alarm = new Alarm((late) => this.#ring(late));
  readonly #grace = new Grace();
  readonly #unconfirmed = new Deadlines(CONFIRM_WITHIN, (contender) => {
    contender.unconfirmed(new ReleaseUnconfirmed(contender.lock));
  });
  /** Acquires that wait for the first connection; null after the first connection. */
  #early: Deadlines | null;

  constructor(timed: Timed, connectWithin: number) {
    this.#timed = timed;
    this.#early = new Deadlines(connectWithin, (contender) => timed.notConnected(contender));
  }

  /** An acquire has begun at that time. */
  acquiring(contender: Contender, since: number): void {
    this.#early?.add(contender, since);
    this.#wake(this.#early?.next ?? null);
  }

  /** A release begins. */
  releasing(contender: Contender): void {
    this.#unconfirmed.add(contender, now());
    this.#wake(this.#unconfirmed.next);
  }

  /**
   * Call it before each input: the hub could otherwise end an acquire that has no connection yet by its own deadline.
   */
  beforeInput(): void {
    this.#early?.ring();
  }

  /** No call waits for this contender any more. */
  forget(contender: Contender): void {
    forgetDeadline(contender);
  }

  /** The driver has reached a server. */
  reached(): void {
    this.#early = null;
  }

  /** Whether the driver has ever reached a server. */
  get everReached(): boolean {
    return this.#early === null;
  }

  /** Sets the timer of the hub. */
  set(due: number | null): void {
    if (this.#grace.until !== null && (due === null || due > now())) {
      this.#grace.end(); // The reply has arrived.
    }
    this.#wake(due);
  }

  /** The client closes, and waits for all releases together. */
  closing(): void {
    this.#unconfirmed.clear();
    this.#early?.clear();
  }

  clear(): void {
    this.#alarm.clear();
  }

  #ring(late: number): void {
    if (this.#mayWait() && this.#grace.give(late)) {
      this.#wake(this.#grace.until);
      return;
    }
    this.#grace.end();
    this.#unconfirmed.ring();
    this.#early?.ring();
    this.#timed.due();
    this.#wake(this.#unconfirmed.next);
    this.#wake(this.#early?.next ?? null);
  }

  /**
   * Whether a reply could still change a result: a call waits, and no held grant has become invalid, because its holder
   * has to learn of that at once.
   */
  #mayWait(): boolean {
    let waits = this.#unconfirmed.next !== null;
    for (const contender of this.#timed.contenders()) {
      if (contender.state === "held" && !contender.valid) {
        return false;
      }
      waits ||= contender.state === "waiting";
    }
    return waits;
  }

  #wake(at: number | null): void {
    const { until } = this.#grace;
    this.#alarm.set(at !== null && until !== null ? Math.max(at, until) : at);
  }
}
