/** One contender for one lock: a process with its own session, as far as the page shows it. */

import type { Role } from "./actions.js";
import type { Connection } from "./server.js";

/** The state of a contender. `ended`: its session has ended, and it has not joined again. */
export type Phase = "away" | "waiting" | "holding" | "ended";

/** What a person can make a contender do. */
export type Verb =
  "join" | "leave" | "release" | "downgrade" | "kill" | "pause" | "resume" | "cut" | "reconnect" | "look" | "sell";

/** What a lock offers. */
export interface Offer {
  /** Whether it guards the shop. */
  readonly usesShop: boolean;
  /** Whether its contenders are readers and writers. */
  readonly hasReaders: boolean;
}

/** The verbs that a contender cannot use until its client has finished the last call. */
const PENDING: readonly Verb[] = ["leave", "release", "downgrade", "look", "sell"];

export class Contender {
  readonly who: string;
  /** The role of the latest join, or the role after a downgrade. */
  role: Role = "writer";
  phase: Phase = "away";
  /** Its connection; null before the first join, and after its session has ended. */
  hub: Connection | null = null;
  /** The key of its machine in the hub. */
  key: number | null = null;
  /** How often it has joined. Each machine gets its own identifier from this. */
  joins = 0;
  /** When its hub's timer is due. */
  due: number | null = null;
  /** The time since which it is paused: its program runs no code, and its hub neither receives nor sends anything. */
  pausedSince: number | null = null;
  /** The time since which its connection is cut: its program runs, but the server receives nothing from it. */
  cutSince: number | null = null;
  /** Whether it has called leave, release or downgrade, and its client has not finished the call. */
  isPending = false;
  /** The fence of the latest grant. A program keeps it after a loss, and sends it with a late write. */
  fence: bigint | null = null;
  /** The stock that it has read during this grant and not written yet. */
  seen: number | null = null;

  constructor(who: string) {
    this.who = who;
  }

  get isPaused(): boolean {
    return this.pausedSince !== null;
  }

  get isCut(): boolean {
    return this.cutSince !== null;
  }

  /** The time since which the server receives nothing from it; null if the connection works. */
  get silentSince(): number | null {
    // A program can pause while its connection is cut, but a paused program accepts no other action.
    return this.cutSince ?? this.pausedSince;
  }

  /** The reason why the contender cannot do this now; null if it can. */
  obstacle(verb: Verb, { usesShop, hasReaders }: Offer): string | null {
    const { who, phase } = this;
    if (this.isPaused && verb !== "resume" && verb !== "kill") {
      return `${who} is paused`;
    }
    if (this.isPending && PENDING.includes(verb)) {
      return `${who} waits for the server`;
    }
    switch (verb) {
      case "join":
        return phase === "away" || phase === "ended" ? null : `${who} is there already`;
      case "leave":
        return phase === "waiting" ? null : `${who} does not wait`;
      case "release":
        return phase === "holding" ? null : `${who} does not hold the lock`;
      case "kill":
        return this.hub !== null && phase !== "ended" ? null : `${who} has no session`;
      case "pause":
        return phase === "waiting" || phase === "holding" ? null : `${who} is not there`;
      case "resume":
        return this.isPaused ? null : `${who} is not paused`;
      case "cut":
        return this.hub === null || phase === "ended"
          ? `${who} has no session`
          : this.isCut
            ? `the connection of ${who} is cut already`
            : null;
      case "reconnect":
        return this.isCut ? null : `the connection of ${who} is not cut`;
      case "downgrade":
        return phase !== "holding"
          ? `${who} does not hold the lock`
          : !hasReaders || this.role === "reader"
            ? `${who} does not hold the lock as a writer`
            : null;
      case "look":
        return usesShop && phase === "holding" ? null : `${who} does not hold the lock of the shop`;
      case "sell":
        return this.seen === null
          ? `${who} has not read the stock`
          : this.seen === 0
            ? `${who} has read that nothing is left`
            : this.role === "reader"
              ? `${who} is a reader, and a reader does not write`
              : null;
    }
  }
}
