/**
 * The driver for Redis. It sends calls on the program's connection, or on a connection that it opens itself.
 * Subscriptions always have a separate connection, because older protocols allow few other commands on a connection
 * that subscribes.
 *
 * @module
 */

import { now } from "../../clock.js";
import { isProgramming } from "../../engine/causes.js";
import type { Driver, Sink } from "../../engine/driver.js";
import { isFromReplica, redisModule } from "../../hub/families/redis.js";
import { type Failure, Hub, type RedisValue } from "../../hub/hub.js";
import type { Command, RedisCommand } from "../../hub/outputs.js";
import { type Borrowed, type Classified, type Library, Unsent } from "./library.js";
import { OnDemand } from "./on-demand.js";
import { Subscriptions } from "./subscriptions.js";
import { Unanswered } from "./unanswered.js";

/** Carries out commands for Redis. */
export class RedisDriver implements Driver {
  readonly family = "redis";
  /** @internal */
  readonly module = redisModule();
  readonly at: string;
  readonly #library: Library;
  readonly #borrowed: Borrowed | null;
  readonly #calls: OnDemand;
  readonly #unanswered: Unanswered<RedisCommand>;
  readonly #subscriptions: Subscriptions;
  /** Calls that wait for the connection. */
  readonly #unsent = new Set<RedisCommand>();
  /** Subscriptions that the server has not confirmed. */
  readonly #subscribing = new Map<number, RedisCommand>();
  #sink!: Sink;
  #reached = false;
  #closing = false;

  /**
   * `borrowed` is the program's connection; without it, the driver makes its own. `at` is the server's address, for
   * error texts.
   */
  constructor(library: Library, borrowed: Borrowed | null = null, at = "the address of the given client") {
    this.#library = library;
    this.#borrowed = borrowed;
    this.at = at;
    this.#calls = new OnDemand(library, {
      opened: () => this.#arrived(),
      trouble: (error) => this.#sink.trouble(error),
      gone: () => undefined,
    });
    this.#unanswered = new Unanswered((error, commands) => {
      this.#calls.drop();
      for (const command of commands) {
        this.#failed(command, this.#silence(error), { failure: "unknown" });
      }
    });
    this.#subscriptions = new Subscriptions(library, {
      listening: (id) => {
        this.#subscribing.delete(id);
        this.#sink.put((hub, now) => hub.reply(now, id, null));
      },
      message: (id) => this.#sink.put((hub, now) => hub.message(now, id)),
      gone: (id) => this.#sink.put((hub, now) => hub.gone(now, id)),
      broken: (error) => this.#sink.broken(error),
      failed: (id, error) => {
        const command = this.#subscribing.get(id);
        if (command !== undefined) {
          this.#subscribing.delete(id);
          this.#failed(command, error, this.#classifyError(error));
        }
      },
    });
  }

  hub(_now: number, seed: number): Hub {
    return new Hub(this.module, this.family, seed);
  }

  start(sink: Sink): void {
    this.#sink = sink;
    if (this.#borrowed === null) {
      // The first acquire finds it open, or waits for it.
      this.#calls.open().catch(() => undefined);
    } else if (this.#borrowed.ready) {
      this.#arrived();
    }
  }

  get trouble(): unknown {
    if (this.#borrowed === null) {
      return this.#calls.trouble;
    }
    return this.#borrowed.ready ? undefined : this.#borrowed.trouble.error;
  }

  send(command: Command): void {
    switch (command.operation) {
      case "call":
        this.#call(command);
        break;
      case "subscribe":
        this.#subscribing.set(command.id, command);
        this.#subscriptions.subscribe(command.id, command.arguments[0] ?? "");
        break;
      case "unsubscribe":
        this.#subscriptions.unsubscribe(command.arguments[0] ?? "");
        break;
      default:
        this.#sink.put((hub, now) => hub.failed(now, command.id, "not-sent"));
    }
  }

  flush(): void {
    // The libraries themselves collect the commands of one turn.
  }

  forget(): void {
    // The hub unsubscribes by commands.
  }

  closing(): void {
    this.#closing = true;
    this.#unanswered.shorten();
    this.#calls.shorten();
    this.#subscriptions.closing();
    for (const command of [...this.#unsent]) {
      this.#unsent.delete(command);
      this.#giveUp(command);
    }
  }

  close(): Promise<void> {
    this.#borrowed?.end();
    this.#unanswered.end();
    this.#calls.end();
    this.#subscriptions.end();
    return Promise.resolve();
  }

  #call(command: RedisCommand): void {
    const borrowed = this.#borrowed;
    const ready = borrowed === null ? this.#calls.session : borrowed.ready ? borrowed : null;
    if (ready !== null) {
      this.#expect(command, ready.call(command.arguments));
    } else if (borrowed !== null) {
      const { error, ...classified } = borrowed.trouble;
      this.#sink.trouble(error);
      this.#failed(command, error, classified);
    } else if (this.#closing && !this.#reached) {
      this.#giveUp(command);
    } else {
      void this.#callLater(command);
    }
  }

  /** Resolves when the connection is ready. */
  async #callLater(command: RedisCommand): Promise<void> {
    this.#unsent.add(command);
    try {
      const session = await this.#calls.open();
      if (!this.#unsent.delete(command)) {
        return;
      }
      if (command.deadline !== null && now() >= command.deadline) {
        throw new Unsent("the connection came too late", { failure: "not-sent" });
      }
      this.#expect(command, session.call(command.arguments));
    } catch (error) {
      this.#unsent.delete(command);
      this.#failed(command, error, this.#classifyError(error));
    }
  }

  /** A closing client that has never reached the server has nothing to clean up there. */
  #giveUp(command: RedisCommand): void {
    const failure: Failure = this.#reached ? "not-sent" : "closed";
    this.#failed(command, new Error("the client has been closed"), { failure });
  }

  #expect(command: RedisCommand, answer: Promise<RedisValue>): void {
    const { id } = command;
    const request = this.#unanswered.begin(command);
    answer.then(
      (value) => {
        if (this.#unanswered.settle(request)) {
          this.#arrived();
          this.#sink.put((hub, now) => hub.reply(now, id, value), id);
        }
      },
      (error: unknown) => {
        if (this.#unanswered.settle(request)) {
          const classified = this.#classifyError(error);
          if ("reply" in classified && isFromReplica(classified.reply.message)) {
            this.#leave();
          }
          this.#failed(command, error, classified);
        }
      },
    );
  }

  /**
   * The server has become a replica. The driver resolves the address again, which leads to the new primary if it was
   * moved.
   */
  #leave(): void {
    this.#calls.drop();
    this.#subscriptions.drop();
  }

  #arrived(): void {
    this.#reached = true;
    // On every reply, because an earlier error is then out of date.
    this.#sink.reached();
  }

  /** The driver does not close the program's connection. It reports the silence. */
  #silence(error: Error): Error {
    return this.#borrowed === null
      ? error
      : new Error(`the client given to fromRedis: ${error.message}: end it and give another one`);
  }

  #classifyError(error: unknown): Classified {
    return error instanceof Unsent ? error.classified : this.#library.classifyError(error);
  }

  #failed(command: RedisCommand, error: unknown, classified: Classified): void {
    const { id } = command;
    const native = error instanceof Unsent ? (error.cause ?? error) : error;
    if (isProgramming(native)) {
      this.#sink.broken(native, command.id);
      return;
    }
    this.#sink.blame(id, native);
    this.#sink.put((hub, now) =>
      "reply" in classified ? hub.reply(now, id, classified.reply) : hub.failed(now, id, classified.failure),
    );
  }
}
