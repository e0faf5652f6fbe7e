/**
 * What happens at a certain time: what the hub wants to be called for, releases that are not confirmed in time, and acquires that find no server.
 *
 * @module
 */

import { now } from "../clock.js";
import { ReleaseUnconfirmed } from "../errors.js";
import type { Contender } from "./contender.js";
import { Deadlines } from "./deadlines.js";
import { Alarm, Grace } from "./timers.js";

/** How long a release waits for the server's word, in ms; and a close for that and for the end of its connection together. */
export const CONFIRM_WITHIN = 5000;

/** How much of a close's time is kept for the end of its connection, in ms: a session on ZooKeeper whose client says goodbye ends at once. */
export const FAREWELL = 250;

/** Whose time it is. */
export interface Timed {
  /** Contenders that are waited for, or held. */
  readonly contenders: Iterable<Contender>;
  /** The hub's time has come, perhaps. */
  due(): void;
  /** An acquire has waited for the first connection long enough. */
  notConnected(contender: Contender): void;
}

/** The times of one client. */
export class Schedule {
  readonly #timed: Timed;
  readonly #alarm = new Alarm((late) => this.#ring(late));
  readonly #grace = new Grace();
  readonly #unconfirmed = new Deadlines(CONFIRM_WITHIN, (contender) => {
    contender.unconfirmed(new ReleaseUnconfirmed(contender.lock));
  });
  /** Acquires that wait for the first connection; null: there has been one. */
  #early: Deadlines | null;

  constructor(timed: Timed, connectWithin: number) {
    this.#timed = timed;
    this.#early = new Deadlines(connectWithin, (contender) => timed.notConnected(contender));
  }

  /** An acquire has begun then. */
  acquiring(contender: Contender, since: number): void {
    this.#early?.add(contender, since);
    this.#wake(this.#early?.next ?? null);
  }

  /** A release begins. */
  releasing(contender: Contender): void {
    this.#unconfirmed.add(contender, now());
    this.#wake(this.#unconfirmed.next);
  }

  /** Nothing is waited for any more. */
  forget(contender: Contender): void {
    this.#unconfirmed.delete(contender);
    this.#early?.delete(contender);
  }

  /** There has been a connection. */
  reached(): void {
    this.#early = null;
  }

  /** Whether there has been a connection. */
  get everReached(): boolean {
    return this.#early === null;
  }

  /** The hub wants to be called at that time. */
  set(due: number | null): void {
    if (this.#grace.until !== null && (due === null || due > now())) {
      this.#grace.end(); // The answer has come.
    }
    this.#wake(due);
  }

  /** The client closes: it waits for all in one. */
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

  /** Whether an answer would change what is told: somebody waits, and no grant has ended of which its holder has to hear at once. */
  #mayWait(): boolean {
    let waits = this.#unconfirmed.size > 0;
    for (const contender of this.#timed.contenders) {
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
