/** The server of one lock: `memory:`, with one hub for each contender. Describes its messages for the page. */

import { Hub, type MemoryMessage, MemoryServer } from "fencepost/hub";

import { NAMES } from "./actions.js";

/** How long the server keeps a session without hearing from its contender, in ms. */
export const SESSION_TIMEOUT = 60_000;

/** One message between a contender and the server. */
export interface Message {
  /** When it was sent, in ms on the story's clock. */
  readonly at: number;
  /** The contender. */
  readonly who: string;
  /**
   * `event`: a watch has fired. `session`: the contender learns the state of its session. `cut`: it detects by itself
   * that its connection is cut; the server sends nothing.
   */
  readonly kind: "request" | "reply" | "event" | "session" | "cut";
  readonly text: string;
  /** Whether it is an event about another node than the contender's own. */
  readonly reaches: boolean;
  /** Whether it only opens a session or confirms it. Every client sends such requests, with or without locks. */
  readonly isUpkeep: boolean;
}

/** One node of the lock, and its contender. */
export interface NodeView {
  readonly name: string;
  readonly owner: string;
}

/** The part of a node's name that a client draws at random. */
const RANDOM = /_c_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-/g;

/** The hub of a contender. */
export type Connection = ReturnType<typeof Hub.memory>;

export class Server {
  readonly #memory = new MemoryServer();
  /** The contenders by the ids of their hubs; a killed contender gets another hub when it joins again. */
  readonly #byHub = new Map<number, string>();
  readonly #hubs = new Map<string, number>();
  /** The contender whose node is at a path, or was the last at that path. Directories have none. */
  readonly #owners = new Map<string, string>();
  /** The paths that are being created for a session, by the request. The server may add a number. */
  readonly #creates = new Map<string, string>();
  /** The contender whose node each watch is on, by the watch's request: the path may have another node now. */
  readonly #watches = new Map<string, string | undefined>();
  /** The path that each contender watches. */
  readonly #watched = new Map<string, string>();
  /** The requests that only keep a session alive. The hub and the command identify a request. */
  readonly #upkeep = new Set<string>();
  #taken = 0;
  #connected = 0;

  constructor() {
    this.#memory.record(true);
  }

  connect(who: string, now: number): Connection {
    this.#connected += 1;
    const hub = Hub.memory(this.#memory, now, this.#connected, SESSION_TIMEOUT);
    this.#byHub.set(hub.id, who);
    this.#hubs.set(who, hub.id);
    return hub;
  }

  /** Stops the contender's hub for ever, and ends its session. */
  kill(who: string): void {
    this.pause(who);
    this.expire(who);
    this.#hubs.delete(who);
    this.#watched.delete(who);
  }

  pause(who: string): void {
    this.#control(who, (hub) => this.#memory.pause(hub));
  }

  resume(who: string): void {
    this.#control(who, (hub) => this.#memory.resume(hub));
  }

  /** Cuts the contender's connection. The server keeps its session until it is expired. */
  cut(who: string): void {
    this.#control(who, (hub) => this.#memory.suspend(hub));
  }

  reconnect(who: string): void {
    this.#control(who, (hub) => this.#memory.reconnect(hub));
  }

  expire(who: string): void {
    this.#control(who, (hub) => this.#memory.expire(hub));
  }

  hasSession(who: string): boolean {
    const hub = this.#hubs.get(who);
    return this.#memory.sessions().some((one) => one.hub === hub && one.state !== "expired");
  }

  /** The contenders with something to receive. */
  woken(): string[] {
    return this.#memory.takeWoken().flatMap((hub) => {
      const who = this.#byHub.get(hub);
      return who !== undefined && this.#hubs.get(who) === hub ? [who] : [];
    });
  }

  /** The nodes of contenders, in the order of their numbers. */
  nodes(): NodeView[] {
    return this.#memory
      .nodes()
      .flatMap(({ path, hub }) => {
        const owner = hub === null ? undefined : this.#byHub.get(hub);
        return owner === undefined ? [] : [{ name: brief(path), owner }];
      })
      .sort((one, other) => numberOf(one.name) - numberOf(other.name));
  }

  /** The node that a contender watches, in words; null if it watches none. */
  watched(who: string): string | null {
    const path = this.#watched.get(who);
    if (path === undefined) {
      return null;
    }
    const owner = this.#owners.get(path);
    return owner === undefined ? brief(path) : `the node of ${owner}`;
  }

  /** The contender no longer waits. */
  unwatch(who: string): void {
    this.#watched.delete(who);
  }

  /** Returns the messages since the last call. */
  take(): Message[] {
    const messages = this.#memory.messages(this.#taken);
    this.#taken = messages.at(-1)?.number ?? this.#taken;
    return messages.map((message) => this.#read(message));
  }

  #control(who: string, act: (hub: number) => void): void {
    const hub = this.#hubs.get(who);
    if (hub !== undefined) {
      act(hub);
    }
  }

  #read(message: MemoryMessage): Message {
    const { time, hub, command, kind, name } = message;
    const who = this.#byHub.get(hub) ?? NAMES[0];
    const id = `${hub} ${command}`;
    if (kind === "request" && (name === "sync" || message.text === "check")) {
      this.#upkeep.add(id);
    }
    this.#remember(who, id, message);
    const isSession = kind === "event" && command === null;
    const isCut = isSession && name === "suspended";
    const owner = this.#owner(id, message);
    const isMulti = kind === "reply" && name === "children" && this.#creates.has(id);
    const words = isCut ? "the connection is cut" : isMulti ? "done" : inWords(message);
    return {
      at: time,
      who,
      kind: isCut ? "cut" : isSession ? "session" : kind,
      text: owner === undefined ? words : `${words} (node of ${owner})`,
      reaches: kind === "event" && !isSession && owner !== who,
      isUpkeep: this.#upkeep.has(id) || (isSession && name.startsWith("connect")),
    };
  }

  /** Records the owners of nodes, and the watches. */
  #remember(who: string, id: string, { kind, name, paths: [path], text }: MemoryMessage): void {
    if (path === undefined) {
      return;
    }
    const asked = this.#creates.get(id);
    // A downgrade creates the reader's node in a multi, as its first part.
    if (kind === "request" && (name === "create" || name === "multi") && text.includes("Ephemeral")) {
      this.#creates.set(id, path);
    } else if (kind === "reply" && asked !== undefined) {
      this.#owners.set(name === "created" ? path : asked, who);
    } else if (kind === "event") {
      this.#watched.delete(who);
    } else if (kind === "request" && text.includes("and watch")) {
      const owner = this.#owners.get(path);
      this.#watches.set(id, owner);
      if (owner !== who) {
        this.#watched.set(who, path);
      }
    }
  }

  /** The contender whose node a message is about, if the text does not show it. */
  #owner(id: string, { kind, name, paths: [path] }: MemoryMessage): string | undefined {
    if (kind === "event") {
      return this.#watches.get(id);
    }
    return kind === "request" && name !== "create" && path !== undefined ? this.#owners.get(path) : undefined;
  }
}

/** The meaning of the errors that occur in a lock's normal operation. */
const ERRORS: ReadonlyMap<number | null, string> = new Map([
  [-101, "there is no such node"],
  [-110, "there is such a node already"],
]);

/** The text of the server's message, with short names. */
function inWords({ error, text }: MemoryMessage): string {
  const meaning = ERRORS.get(error);
  return meaning === undefined ? brief(text.replace("EphemeralSequential", "").trim()) : `error ${error}: ${meaning}`;
}

/** A path or a text with paths, without the lock's path and the random part of names. */
function brief(text: string): string {
  return text.replaceAll("/stock/", "").replace(RANDOM, "…");
}

/** The number that the server has added to a node's name; 0 if there is none. */
function numberOf(name: string): number {
  return Number(/\d+$/.exec(name)?.[0] ?? 0);
}
