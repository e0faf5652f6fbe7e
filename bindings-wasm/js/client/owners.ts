/**
 * Owners: who holds a lock already gets it once more without asking the server. Everything here is said and done within one turn of the event
 * loop, so nothing can come in between.
 *
 * @module
 */

import { ConfigError, MisuseError, unreadable } from "../errors.js";
import { Contender } from "./contender.js";

const LONGEST_OWNER = 1024;

/** How an owner comes to a lock: it has it whole, or through one side of a read/write lock. */
export type Way = "whole" | "reader" | "writer";

/** What an owner asks for: the same by each of its locks of one name and kind. */
export interface Claim {
  readonly id: string;
  readonly owner: string;
  readonly way: Way;
}

/** What an owner has of a lock: one contender, and once it is granted, as many holds of that grant as have been asked for. */
export class Tenure {
  readonly id: string;
  /** Who hears what the machine says. The first of them stands for all. */
  readonly holds = new Set<Contender>();
  /** Whether others may read: the grant is a reader's, or becomes one. */
  shared: boolean;

  constructor(id: string, first: Contender, shared: boolean) {
    this.id = id;
    this.holds.add(first);
    this.shared = shared;
  }

  /** How many of them nobody has released yet. */
  count(way?: Way): number {
    let count = 0;
    for (const hold of this.holds) {
      if (hold.state === "held" && (way === undefined || hold.way === way)) {
        count += 1;
      }
    }
    return count;
  }

  /** Whether a hold is the last one of a writer, while there are readers' holds: when it goes, the grant becomes a reader's. */
  lowers({ way }: Contender): boolean {
    return way === "writer" && !this.shared && this.count("writer") === 1 && this.count("reader") > 0;
  }
}

/** All owners of a client. */
export class Owners {
  readonly #tenures = new Map<string, Tenure>();

  /** A further hold of what the owner has; null: nothing. @throws MisuseError if it is still being waited for, or cannot be had this way. */
  reenter(claim: Claim, lock: string): Contender | null {
    const tenure = this.#tenures.get(claim.id);
    if (tenure === undefined) {
      return null;
    }
    const { holds, shared } = tenure;
    const [first] = holds;
    if (first === undefined || first.state === "waiting") {
      const text = `the owner "${claim.owner}" is acquiring it already: wait for that acquire, or use another owner`;
      throw new MisuseError(204, "busy", `${lock}: ${text}`);
    }
    if (shared && claim.way === "writer") {
      const text = `the owner "${claim.owner}" holds it as a reader, who cannot become a writer: release that first`;
      throw new MisuseError(209, "upgrade", `${lock}: ${text}`);
    }
    const hold = first.another(claim.way);
    holds.add(hold);
    return hold;
  }

  /** A contender that begins to acquire for an owner who has nothing. */
  begin(claim: Claim, contender: Contender): void {
    const tenure = new Tenure(claim.id, contender, claim.way === "reader");
    contender.way = claim.way;
    contender.tenure = tenure;
    this.#tenures.set(claim.id, tenure);
  }

  /** The owner acquires anew from here on: the last release has begun, the server need not have heard of it. */
  end(tenure: Tenure): void {
    if (this.#tenures.get(tenure.id) === tenure) {
      this.#tenures.delete(tenure.id);
    }
  }

  clear(): void {
    this.#tenures.clear();
  }
}

/** Checks an owner, and writes it down for locks of one kind and name; null: there is none, and every acquire is a contender of its own. */
export function claim(owner: unknown, kind: string, name: string, way: Way): Claim | null {
  if (owner === undefined) {
    return null;
  }
  if (typeof owner !== "string") {
    throw unreadable("owner has to be a string");
  }
  const size = new TextEncoder().encode(owner).length;
  if (size === 0 || size > LONGEST_OWNER) {
    const given = size === 0 ? "empty" : `${size} bytes long`;
    const text = `owner is ${given}: give 1 to ${LONGEST_OWNER} bytes that nobody else in this program uses, such as "request-17"`;
    throw new ConfigError(110, "invalid-option", text);
  }
  return { id: JSON.stringify([kind, name, owner]), owner, way };
}
