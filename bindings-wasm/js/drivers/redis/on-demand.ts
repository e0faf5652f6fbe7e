/**
 * A connection of our own, opened when it is needed and opened again when it is needed after its end. The machines decide when to try again, so there
 * is no timer here, and nothing is sent later than it was meant.
 *
 * @module
 */

import { isProgramming } from "../../engine/causes.js";
import { deadline } from "../../engine/timers.js";
import type { Judged, Library, Opening, Session } from "./library.js";
import { Unsent, isDistrust, isRefusal } from "./library.js";
import { SILENT_AT_CLOSE } from "./unanswered.js";

/** A server that accepts a connection and says nothing is as good as none. Less than a close waits: it finds the time for another attempt. */
const OPEN_WITHIN = 3000;

/** Who hears of a connection. */
export interface Owner {
  opened(): void;
  /** It could not be opened. */
  trouble(error: unknown): void;
  /** A connection that was open has ended. */
  gone(): void;
}

export class OnDemand {
  readonly #library: Library;
  readonly #owner: Owner;
  #session: Session | null = null;
  #opening: Promise<Session> | null = null;
  #closed = false;
  #within = OPEN_WITHIN;

  constructor(library: Library, owner: Owner) {
    this.#library = library;
    this.#owner = owner;
  }

  /** The connection, if it is ready now. */
  get session(): Session | null {
    return this.#session?.ready === true ? this.#session : null;
  }

  /** The connection, when it is ready. Rejects with {@link Unsent}. */
  open(): Promise<Session> {
    const session = this.session;
    if (session !== null) {
      return Promise.resolve(session);
    }
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  /** The client closes: the server has less time to accept a connection. */
  hurry(): void {
    this.#within = SILENT_AT_CLOSE;
  }

  end(): void {
    this.#closed = true;
    this.drop();
  }

  /** Ends the connection: the next one goes wherever the address leads then. */
  drop(): void {
    const session = this.#session;
    this.#session = null;
    session?.end();
  }

  async #open(): Promise<Session> {
    this.#session?.end();
    this.#session = null;
    let session: Session | null = null;
    let opening: Opening | null = null;
    try {
      opening = this.#library.open(() => this.#ended(session));
      session = await within(this.#within, this.#greeted(opening.session));
    } catch (error) {
      opening?.end();
      this.#owner.trouble(error);
      throw isProgramming(error) ? error : new Unsent("no connection", this.#judge(error), { cause: error });
    }
    if (this.#closed) {
      session.end();
      throw new Unsent("the client has been closed", { failure: "closed" });
    }
    this.#session = session;
    this.#owner.opened();
    return session;
  }

  /**
   * A server that has answered is there: node-redis 5.0 takes any accepted connection for one. Nothing else is sent before, so that nothing is left on a server
   * that never answers. Any answer will do, a refusal too.
   */
  async #greeted(opening: Promise<Session>): Promise<Session> {
    const session = await opening;
    try {
      await session.call(["ping"]);
    } catch (error) {
      if (!("reply" in this.#library.judge(error))) {
        throw error;
      }
    }
    return session;
  }

  /** A server that refuses the connection has answered: it would answer every command in the same way. */
  #judge(error: unknown): Judged {
    if (error instanceof Unsent) {
      return error.judged;
    }
    if (isDistrust(error)) {
      return { reply: new Error(`ERR TLS: ${error.message}`, { cause: error }) };
    }
    const judged = this.#library.judge(error);
    return "reply" in judged
      ? judged
      : error instanceof Error && isRefusal(error)
        ? { reply: error }
        : { failure: "not-sent" };
  }

  #ended(session: Session | null): void {
    if (session !== null && session === this.#session) {
      this.#session = null;
      this.#owner.gone();
    }
  }
}

function within<T>(limit: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject: (error: unknown) => void) => {
    const silent = new Error(`it accepts connections, and has not answered within ${limit} ms`);
    const cancel = deadline(limit, () => reject(silent));
    work.then(resolve, reject).finally(cancel);
  });
}
