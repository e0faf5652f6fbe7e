/**
 * A connection of our own, opened when it is needed and opened again when it is needed after its end. The machines decide when to try again, so there
 * is no timer here, and nothing is sent later than it was meant.
 *
 * @module
 */

import { later } from "../../client/timers.js";
import type { Judged, Library, Session } from "./library.js";
import { Unsent, isDistrust, isRefusal } from "./library.js";

/** A server that accepts a connection and says nothing is as good as none. Less than a close waits: it finds the time for another attempt. */
const OPEN_WITHIN = 3000;

export class OnDemand {
  readonly #library: Library;
  readonly #gone: () => void;
  #session: Session | null = null;
  #opening: Promise<Session> | null = null;
  #closed = false;

  /** `gone` is called when a connection that was open has ended. */
  constructor(library: Library, gone: () => void) {
    this.#library = library;
    this.#gone = gone;
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

  end(): void {
    this.#closed = true;
    const session = this.#session;
    this.#session = null;
    session?.end();
  }

  async #open(): Promise<Session> {
    this.#session?.end();
    this.#session = null;
    let late = false;
    let session: Session | null = null;
    const attempt = this.#library
      .open(() => this.#ended(session))
      .then((opened) => {
        session = opened;
        if (late || this.#closed) {
          opened.end();
        }
        return opened;
      });
    try {
      this.#session = await within(OPEN_WITHIN, attempt);
    } catch (error) {
      late = true;
      throw new Unsent("no connection", this.#judge(error), { cause: error });
    }
    if (this.#closed) {
      throw new Unsent("the client has been closed", { failure: "closed" });
    }
    return this.#session;
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
      this.#gone();
    }
  }
}

function within<T>(limit: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject: (error: unknown) => void) => {
    const timer = later(limit, () => reject(new Error(`the server has not answered within ${limit} ms`)));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
