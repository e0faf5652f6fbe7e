/**
 * The channels of a client, on a separate connection.
 *
 * @module
 */

import { isProgramming } from "../../engine/causes.js";
import { later } from "../../engine/timers.js";
import { type Timer, clearTimeout } from "../../host.js";
import type { Argument } from "../../hub/arguments.js";
import type { Library } from "./library.js";
import { bytes } from "./library.js";
import { OnDemand } from "./on-demand.js";
import { Unanswered } from "./unanswered.js";

/** How often to send a PING, in ms: no call waits for a reply on a connection with subscriptions. */
const HEARTBEAT = 5000;

/** The callbacks for subscriptions. They name the command that subscribed. */
export interface Subscriber {
  /** The server has confirmed the subscription. */
  listening(id: number): void;
  message(id: number): void;
  /** A subscription that was confirmed has ended. */
  gone(id: number): void;
  /** The subscription failed. */
  failed(id: number, error: unknown): void;
  /** A programming error: a retry would cause it again. */
  broken(error: unknown): void;
}

interface Subscription {
  readonly channel: Argument;
  confirmed: boolean;
}

export class Subscriptions {
  readonly #subscriber: Subscriber;
  readonly #connection: OnDemand;
  readonly #unanswered: Unanswered<(error: Error) => void>;
  /** The command that subscribed. */
  readonly #known = new Map<number, Subscription>();
  /** The change in flight on each channel: see {@link #after}. */
  readonly #last = new Map<string, Promise<void>>();
  #beat: Timer | null = null;
  #closed = false;

  constructor(library: Library, subscriber: Subscriber) {
    this.#subscriber = subscriber;
    this.#connection = new OnDemand(library, {
      opened: () => undefined,
      trouble: () => undefined,
      gone: () => this.#deaf(),
    });
    this.#unanswered = new Unanswered((error, rejects) => {
      this.drop();
      for (const reject of rejects) {
        reject(error);
      }
    });
  }

  subscribe(id: number, channel: Argument): void {
    this.#known.set(id, { channel, confirmed: false });
    this.#after(channel, async () => {
      try {
        const session = await this.#connection.open();
        if (!this.#known.has(id)) {
          return;
        }
        await this.#expect(session.subscribe(channel, () => this.#message(id)));
      } catch (error) {
        if (this.#known.delete(id)) {
          this.#subscriber.failed(id, error);
        }
        return;
      }
      const subscription = this.#known.get(id);
      if (subscription === undefined || this.#closed) {
        return;
      }
      subscription.confirmed = true;
      this.#listen();
      this.#subscriber.listening(id);
    });
  }

  unsubscribe(channel: Argument): void {
    for (const [id, known] of this.#known) {
      if (name(known.channel) === name(channel)) {
        this.#known.delete(id);
      }
    }
    this.#after(channel, async () => {
      // A connection that has ended has no subscriptions.
      const { session } = this.#connection;
      if (session !== null) {
        await this.#quietly(() => session.unsubscribe(channel));
      }
    });
  }

  /** Ends the connection. The next subscription makes another one. */
  drop(): void {
    this.#connection.drop();
    this.#deaf();
  }

  closing(): void {
    this.#unanswered.shorten();
  }

  end(): void {
    this.#closed = true;
    this.#known.clear();
    this.#stop();
    this.#unanswered.end();
    this.#connection.end();
  }

  /**
   * Makes one change of a channel after the other. If node-redis subscribes while an UNSUBSCRIBE of the same channel is
   * in flight, it confirms the subscription at once, and forgets its listener when the reply arrives.
   */
  #after(channel: Argument, work: () => Promise<void>): void {
    const key = name(channel);
    const before = this.#last.get(key);
    const done = (before === undefined ? work() : before.then(work)).then(() => {
      if (this.#last.get(key) === done) {
        this.#last.delete(key);
      }
    });
    this.#last.set(key, done);
  }

  #message(id: number): void {
    if (this.#known.has(id)) {
      this.#subscriber.message(id);
    }
  }

  /** The connection has ended: reports each subscription once. */
  #deaf(): void {
    this.#stop();
    for (const [id, { confirmed }] of [...this.#known]) {
      // An unconfirmed subscription fails with its own request.
      if (confirmed) {
        this.#known.delete(id);
        this.#subscriber.gone(id);
      }
    }
  }

  #expect<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject: (error: unknown) => void) => {
      const request = this.#unanswered.begin(reject);
      answer
        .finally(() => {
          this.#unanswered.settle(request);
        })
        .then(resolve, reject);
    });
  }

  /** Sends PING from time to time while there are subscriptions. */
  #listen(): void {
    this.#beat ??= later(HEARTBEAT, () => {
      this.#beat = null;
      const { session } = this.#connection;
      if (session !== null && this.#known.size > 0) {
        // Any reply is enough, even an error. In lower case: ioredis 5.0 refuses other names on a connection with
        // subscriptions.
        void this.#quietly(() => session.call(["ping"]));
        this.#listen();
      }
    });
  }

  /** Sends a request that no contender waits for. If the network fails, the end of the connection reports it. */
  async #quietly(ask: () => Promise<unknown>): Promise<void> {
    try {
      await this.#expect(ask());
    } catch (error) {
      if (isProgramming(error)) {
        this.#subscriber.broken(error);
      }
    }
  }

  #stop(): void {
    if (this.#beat !== null) {
      clearTimeout(this.#beat);
      this.#beat = null;
    }
  }
}

function name(channel: Argument): string {
  return bytes(channel).toString();
}
