/** One lock on a server of its own, with a hub for each contender. All runs on the story's clock. */

import { type Event, Settings } from "fencepost/hub";

import { type Kind, type LockName, NAMES, type Role, BadStory } from "./actions.js";
import { Contender, type Offer, type Phase, type Verb } from "./contender.js";
import { describeEvent, events } from "./event-text.js";
import { type Connection, type Message, type NodeView, SESSION_TIMEOUT, Server } from "./server.js";

/** The name of the lock in the settings. */
const NAME = "stock";

const VERBS: readonly Verb[] = [
  "join",
  "leave",
  "release",
  "downgrade",
  "kill",
  "pause",
  "resume",
  "cut",
  "reconnect",
  "look",
  "sell",
];

/** The visible state of a contender. */
export interface ContenderView {
  readonly who: string;
  readonly role: Role;
  readonly phase: Phase;
  readonly isPaused: boolean;
  /** Whether its connection is cut. */
  readonly isCut: boolean;
  /** Whether its program waits for a call that needs a connection. */
  readonly isPending: boolean;
  /** Whether the server still has its session. */
  readonly hasSession: boolean;
  readonly node: string | null;
  /** The node that it watches, in words. */
  readonly watches: string | null;
  readonly fence: bigint | null;
  readonly seen: number | null;
  /** The actions that the player can choose for it now. */
  readonly verbs: readonly Verb[];
}

/** The visible state of a lock. */
export interface LockView {
  readonly name: LockName;
  /** In the order of their nodes; those without a node come last. */
  readonly contenders: readonly ContenderView[];
  readonly nodes: readonly NodeView[];
}

/** The results of one step. */
export interface Happened {
  readonly sentences: readonly string[];
  readonly messages: readonly Message[];
  /** The contenders that got an event about another node than their own; one name for each event. */
  readonly woken: readonly string[];
  /** How many requests the contenders have sent, without those that only keep their sessions alive. */
  readonly requests: number;
}

/** Something that happens at a time. */
interface Moment {
  readonly at: number;
  readonly act: () => void;
}

export class Lock implements Offer {
  readonly name: LockName;
  readonly usesShop: boolean;
  readonly hasReaders: boolean;
  readonly #kind: Kind;
  readonly #permits: number;
  readonly #server = new Server();
  readonly #contenders = new Map<string, Contender>();
  #now = 0;
  #sentences: string[] = [];
  /** The index of the sentence before which the server has sent its events. */
  #eventsAt: number | null = null;
  /** The node that each contender watched last. */
  readonly #watches = new Map<string, string | null>();

  constructor(name: LockName, kind: Kind, permits: number) {
    this.name = name;
    this.usesShop = name === "fair" && kind !== "semaphore";
    this.hasReaders = kind === "read-write";
    this.#kind = kind;
    this.#permits = permits;
  }

  /** The contender, if it can do this now. @throws BadStory with the reason why it cannot. */
  able(who: string, verb: Verb): Contender {
    const contender = this.#contenders.get(who) ?? new Contender(who);
    const obstacle = contender.obstacle(verb, this);
    if (obstacle !== null) {
      throw new BadStory(obstacle);
    }
    this.#contenders.set(who, contender);
    return contender;
  }

  /** Whether the contender has ever been here. */
  knows(who: string): boolean {
    return this.#contenders.has(who);
  }

  /** Whether the contender could join. */
  canJoin(who: string): boolean {
    return (this.#contenders.get(who) ?? new Contender(who)).obstacle("join", this) === null;
  }

  join(who: string, role: Role): void {
    const one = this.able(who, "join");
    one.hub ??= this.#server.connect(who, this.#now);
    one.joins += 1;
    one.role = role;
    one.phase = "waiting";
    one.fence = null;
    one.seen = null;
    one.key = one.hub.open(this.#now, this.#settings(role), identifier(one), one.joins);
    one.hub.acquire(this.#now, one.key);
    this.#settle(one);
    if (one.isCut) {
      this.#postponed(one);
    }
  }

  leave(who: string): void {
    const one = this.able(who, "leave");
    this.#intend(one, (hub, key) => hub.cancel(this.#now, key));
  }

  release(who: string): void {
    const one = this.able(who, "release");
    this.#intend(one, (hub, key) => hub.release(this.#now, key));
  }

  downgrade(who: string): void {
    const one = this.able(who, "downgrade");
    this.#intend(one, (hub, key) => hub.downgrade(this.#now, key));
  }

  /** The program is killed, so its hub receives nothing more, and the server ends its session. */
  kill(who: string): void {
    const one = this.able(who, "kill");
    this.#server.kill(who);
    this.#contenders.set(who, Object.assign(new Contender(who), { joins: one.joins, role: one.role, phase: "ended" }));
    this.#settle();
  }

  pause(who: string): void {
    this.able(who, "pause").pausedSince = this.#now;
    this.#server.pause(who);
  }

  resume(who: string): void {
    const one = this.able(who, "resume");
    one.pausedSince = null;
    this.#server.resume(who);
    this.#settle(one);
  }

  /** The program continues, but neither it nor the server receives anything from the other. */
  cut(who: string): void {
    const one = this.able(who, "cut");
    one.cutSince = this.#now;
    this.#server.cut(who);
    this.#settle(one);
  }

  reconnect(who: string): void {
    const one = this.able(who, "reconnect");
    const session = this.#server.hasSession(who) ? "the same session" : "a new session";
    one.cutSince = null;
    this.#server.reconnect(who);
    this.#sentences.push(`${who} has a connection again, in ${session}.`);
    this.#settle(one);
  }

  /** Lets time pass. The server ends the session of a contender from which it has received nothing for the session's timeout. */
  pass(millis: number): void {
    const end = this.#now + millis;
    for (;;) {
      const next = this.#next();
      if (next === null || next.at > end) {
        break;
      }
      this.#now = Math.max(this.#now, next.at);
      next.act();
    }
    this.#now = end;
  }

  /** Returns the results since the last call. */
  take(): Happened {
    const messages = this.#server.take();
    const woken = messages.filter(({ reaches }) => reaches).map(({ who }) => who);
    const sentences = this.#sentences;
    if (woken.length > 0) {
      sentences.splice(this.#eventsAt ?? sentences.length, 0, events(woken));
    }
    sentences.push(...this.#newWatches());
    this.#sentences = [];
    this.#eventsAt = null;
    const requests = messages.filter(({ kind, isUpkeep }) => kind === "request" && !isUpkeep).length;
    return { sentences, messages, woken, requests };
  }

  view(): LockView {
    const nodes = this.#server.nodes();
    const place = (who: string): number => nodes.findIndex(({ owner }) => owner === who) >>> 0;
    const contenders = [...this.#contenders.values()]
      .map((one) => this.#viewed(one, nodes))
      .sort((one, other) => place(one.who) - place(other.who));
    return { name: this.name, contenders, nodes };
  }

  #newWatches(): string[] {
    return [...this.#contenders.values()].flatMap(({ who, phase }) => {
      const watched = phase === "waiting" ? this.#server.watched(who) : null;
      const before = this.#watches.get(who) ?? null;
      this.#watches.set(who, watched);
      return watched === null || watched === before ? [] : [`${who} waits, and watches ${watched}.`];
    });
  }

  #viewed(one: Contender, nodes: readonly NodeView[]): ContenderView {
    const { who, role, phase, isPaused, isCut, isPending, fence, seen } = one;
    return {
      who,
      role,
      phase,
      isPaused,
      isCut,
      isPending,
      hasSession: this.#server.hasSession(who),
      node: nodes.find(({ owner }) => owner === who)?.name ?? null,
      watches: phase === "waiting" ? this.#server.watched(who) : null,
      fence,
      seen,
      verbs: VERBS.filter((verb) => one.obstacle(verb, this) === null),
    };
  }

  #settings(role: Role): Settings {
    const common = { server: "memory", name: NAME } as const;
    switch (this.#kind) {
      case "lock":
        return new Settings({ ...common, kind: "lock", fair: this.name === "fair" });
      case "read-write":
        return new Settings({ ...common, kind: role });
      case "semaphore":
        return new Settings({ ...common, kind: "semaphore", permits: this.#permits });
    }
  }

  #intend(one: Contender, intent: (hub: Connection, key: number) => void): void {
    if (one.hub !== null && one.key !== null) {
      one.isPending = true;
      intent(one.hub, one.key);
    }
    this.#settle(one);
    if (one.isPending) {
      this.#postponed(one);
    }
  }

  #postponed({ who }: Contender): void {
    this.#sentences.push(`${who} cannot send this to the server before it has a connection again.`);
  }

  /** The next event that happens without an action. */
  #next(): Moment | null {
    let next: Moment | null = null;
    for (const one of this.#contenders.values()) {
      for (const moment of this.#moments(one)) {
        next = next !== null && next.at <= moment.at ? next : moment;
      }
    }
    return next;
  }

  /** The events of a contender that happen without an action. If two have the same time, the first in the list comes
   * first. */
  #moments(one: Contender): Moment[] {
    const { isPaused, silentSince, due } = one;
    const moments: Moment[] = [];
    if (!isPaused && due !== null) {
      moments.push({ at: due, act: () => this.#settle(one) });
    }
    if (silentSince !== null && this.#server.hasSession(one.who)) {
      moments.push({ at: silentSince + SESSION_TIMEOUT, act: () => this.#expire(one) });
    }
    return moments;
  }

  #expire(one: Contender): void {
    this.#server.expire(one.who);
    this.#sentences.push(`The server has not heard from ${one.who} for a minute: it ends its session.`);
    this.#settle();
  }

  /** Drives a hub, and all hubs that receive something from it, until none of them has anything to do. */
  #settle(first?: Contender): void {
    const waiting = first === undefined ? [] : [first];
    for (;;) {
      const one = waiting.shift();
      if (one !== undefined) {
        this.#drive(one);
      }
      const receivers = this.#server.woken();
      this.#eventsAt ??= receivers.length > 0 ? this.#sentences.length : null;
      // Events of one moment come in any order. With a queue the order does not matter.
      for (const who of this.name === "unfair" ? receivers.reverse() : receivers) {
        const woken = this.#contenders.get(who);
        if (woken !== undefined && !woken.isPaused && !waiting.includes(woken)) {
          waiting.push(woken);
        }
      }
      if (waiting.length === 0) {
        return;
      }
    }
  }

  #drive(one: Contender): void {
    const { hub } = one;
    if (hub === null) {
      return;
    }
    hub.handleTimeout(this.#now);
    for (;;) {
      const output = hub.poll();
      if (output.type === "wait") {
        one.due = output.until;
        return;
      }
      if (output.type === "event") {
        this.#receive(one, output);
      }
    }
  }

  #receive(one: Contender, event: Event): void {
    const { who } = one;
    const { sentence, phase } = describeEvent(who, event, one.phase);
    one.isPending &&= phase !== "away" && event.event !== "downgraded";
    if (event.event === "acquired") {
      one.fence = event.grant.fence;
    } else if (event.event === "downgraded") {
      one.role = "reader";
    } else if (event.event === "released") {
      one.fence = null;
      one.seen = null;
    }
    if (phase === "away" && one.hub !== null && one.key !== null) {
      one.hub.close(this.#now, one.key);
      one.key = null;
      this.#server.unwatch(who);
    }
    one.phase = phase;
    if (sentence !== null) {
      this.#sentences.push(sentence);
    }
  }
}

/** The 16 bytes of a machine. A program uses random ones; the story uses fixed ones, to always run the same. */
function identifier({ who, joins }: Contender): Uint8Array {
  const bytes = new Uint8Array(16).fill((NAMES.findIndex((name) => name === who) + 10) * 0x11);
  bytes[15] = joins * 16;
  return bytes;
}
