/**
 * The driver for Redis: calls on the caller's connection or on one of our own, subscriptions always on one of our own, because a connection that
 * listens can do little else in older protocols.
 *
 * @module
 */

import { now } from "../../clock.js";
import { Hub, type RedisValue } from "../../hub.js";
import type { Argument, Command, RedisCommand } from "../../outputs.js";
import type { Driver, Sink } from "../driver.js";
import { type Borrowed, type Judged, type Library, type Session, Unsent } from "./library.js";
import { OnDemand } from "./on-demand.js";

/** Carries out commands for Redis. */
export class RedisDriver implements Driver {
  readonly family = "redis";
  readonly #library: Library;
  readonly #borrowed: Borrowed | null;
  readonly #calls: OnDemand;
  readonly #listener: OnDemand;
  /** The channels we listen to, by the command that wanted it. */
  readonly #channels = new Map<number, Argument>();
  #sink!: Sink;
  #closed = false;

  /** On `borrowed`, the caller's connection; without it, on one of our own. */
  constructor(library: Library, borrowed: Borrowed | null = null) {
    this.#library = library;
    this.#borrowed = borrowed;
    this.#calls = new OnDemand(library, () => undefined);
    this.#listener = new OnDemand(library, () => this.#deaf());
  }

  hub(_now: number, seed: number): Hub {
    return new Hub("redis", seed);
  }

  start(sink: Sink): void {
    this.#sink = sink;
    if (this.#borrowed === null) {
      // The first acquire finds it open, or waits for it.
      this.#calls.open().catch(() => undefined);
    }
  }

  send(command: Command): void {
    switch (command.operation) {
      case "call":
        this.#call(command);
        break;
      case "subscribe":
        void this.#subscribe(command.id, command.arguments[0] ?? "");
        break;
      case "unsubscribe":
        this.#unsubscribe(command.arguments[0] ?? "");
        break;
      default:
        this.#sink.put((hub, now) => hub.failed(now, command.id, "not-sent"));
    }
  }

  flush(): void {
    // The libraries gather what is sent in one turn by themselves.
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#borrowed?.end();
    this.#calls.end();
    this.#listener.end();
    return Promise.resolve();
  }

  #call(command: RedisCommand): void {
    const { id } = command;
    const borrowed = this.#borrowed;
    const ready = borrowed === null ? this.#calls.session : borrowed.ready ? borrowed : null;
    if (ready !== null) {
      this.#expect(id, ready.call(command.arguments));
    } else if (borrowed === null) {
      const sent = this.#calls.open().then((session) => {
        if (command.deadline !== null && now() >= command.deadline) {
          throw new Unsent("the connection came too late", { failure: "not-sent" });
        }
        return session.call(command.arguments);
      });
      this.#expect(id, sent);
    } else {
      const { error, ...judged } = borrowed.trouble;
      this.#failed(id, error, judged);
    }
  }

  #expect(id: number, answer: Promise<RedisValue>): void {
    answer.then(
      (value) => this.#sink.put((hub, now) => hub.reply(now, id, value), id),
      (error: unknown) => this.#failed(id, error, this.#judge(error)),
    );
  }

  #judge(error: unknown): Judged {
    return error instanceof Unsent ? error.judged : this.#library.judge(error);
  }

  #failed(id: number, error: unknown, judged: Judged): void {
    this.#sink.blame(id, error instanceof Unsent ? (error.cause ?? error) : error);
    this.#sink.put((hub, now) =>
      "reply" in judged ? hub.reply(now, id, judged.reply) : hub.failed(now, id, judged.failure),
    );
  }

  async #subscribe(id: number, channel: Argument): Promise<void> {
    let session: Session;
    this.#channels.set(id, channel);
    try {
      session = await this.#listener.open();
      await session.subscribe(channel, () => this.#heard(id));
    } catch (error) {
      if (this.#channels.delete(id) && !this.#closed) {
        this.#failed(id, error, this.#judge(error));
      }
      return;
    }
    this.#sink.put((hub, now) => hub.reply(now, id, null));
  }

  #heard(id: number): void {
    if (this.#channels.has(id)) {
      this.#sink.put((hub, now) => hub.message(now, id));
    }
  }

  #unsubscribe(channel: Argument): void {
    for (const [id, known] of this.#channels) {
      if (known === channel) {
        this.#channels.delete(id);
      }
    }
    // A connection that has ended listens to nothing.
    this.#listener.session?.unsubscribe(channel).catch(() => undefined);
  }

  /** The listening connection has ended: every channel is told once. */
  #deaf(): void {
    const lost = [...this.#channels.keys()];
    this.#channels.clear();
    for (const id of lost) {
      this.#sink.put((hub, now) => hub.gone(now, id));
    }
  }
}
