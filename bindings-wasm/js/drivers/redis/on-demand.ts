/**
 * A connection that the driver opens when a command needs one, also after the last one has ended. The machines decide
 * when to retry, so this module has no timer for that, and sends nothing late.
 *
 * @module
 */

import { now } from "../../clock.js";
import { isProgramming } from "../../engine/causes.js";
import { STILL, deadline } from "../../engine/timers.js";
import { outside } from "../../host.js";
import { isError } from "../../realms.js";
import type { Classified, Library, Opening, Progress, Session } from "./library.js";
import { Unsent, isDistrust, isRefusal } from "./library.js";
import { SILENT_AT_CLOSE } from "./unanswered.js";

/**
 * How long a server that accepts a connection may be silent. It is shorter than a close, so that a close has time for
 * another attempt.
 */
const OPEN_WITHIN = 3000;

/** The callbacks for a connection. */
export interface Owner {
  opened(): void;
  /** The connection could not be opened. */
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
  /** Returns the reason why the connection that is being opened is not open yet. */
  #explain: (() => Error) | null = null;

  constructor(library: Library, owner: Owner) {
    this.#library = library;
    this.#owner = owner;
  }

  /** The connection, if it is ready now. */
  get session(): Session | null {
    return this.#session?.ready === true ? this.#session : null;
  }

  /** Why there is no connection yet, while it is being opened. */
  get trouble(): unknown {
    return this.#explain?.();
  }

  /** Resolves when the connection is ready. Rejects with {@link Unsent}. */
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
  shorten(): void {
    this.#within = SILENT_AT_CLOSE;
  }

  end(): void {
    this.#closed = true;
    this.drop();
  }

  /** Ends the connection. The next one resolves the address again. */
  drop(): void {
    const session = this.#session;
    this.#session = null;
    session?.end();
  }

  async #open(again = false): Promise<Session> {
    this.#session?.end();
    this.#session = null;
    let session: Session | null = null;
    let opening: Opening | null = null;
    const [since, limit] = [now(), this.#within];
    try {
      opening = outside(() => this.#library.open(() => this.#ended(session)));
      const { progress } = opening;
      this.#explain = () => unopened(progress, now() - since);
      session = await within(limit, this.#greeted(opening.session), () => unopened(progress, limit));
    } catch (error) {
      opening?.end();
      if (!again && !this.#closed && now() - since > limit + STILL) {
        // The event loop was blocked. So the library's own timer may have fired before the server had time to reply.
        return await this.#open(true);
      }
      this.#owner.trouble(error);
      throw isProgramming(error) ? error : new Unsent("no connection", this.#classifyError(error), { cause: error });
    } finally {
      this.#explain = null;
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
   * Waits for a first reply, because node-redis 5.0 treats every accepted connection as ready. Nothing else is sent
   * before, so a server that never replies gets no command. Any reply is enough, even an error.
   */
  async #greeted(opening: Promise<Session>): Promise<Session> {
    const session = await opening;
    try {
      await session.call(["ping"]);
    } catch (error) {
      if (!("reply" in this.#library.classifyError(error))) {
        throw error;
      }
    }
    return session;
  }

  /** The server refuses the connection. It would refuse every command in the same way. */
  #classifyError(error: unknown): Classified {
    if (error instanceof Unsent) {
      return error.classified;
    }
    if (isDistrust(error)) {
      return { reply: new Error(`ERR TLS: ${error.message}`, { cause: error }) };
    }
    const classified = this.#library.classifyError(error);
    return "reply" in classified
      ? classified
      : isError(error) && isRefusal(error)
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

/** Why a connection is not open after so many ms. */
function unopened({ accepted, error }: Progress, after: number): Error {
  if (isError(error)) {
    return error;
  }
  const what = accepted ? "the server accepts connections, but has not answered" : "no connection has been established";
  return new Error(`${what} within ${Math.round(after)} ms`);
}

function within<T>(limit: number, work: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject: (error: unknown) => void) => {
    const cancel = deadline(limit, () => reject(late()));
    work.then(resolve, reject).finally(cancel);
  });
}
