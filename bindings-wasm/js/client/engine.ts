/**
 * The driving loop: one hub, its driver, its timer, and the contenders that wait for its events.
 *
 * @module
 */

import { now } from "../clock.js";
import type { Driver, Sink } from "../drivers/driver.js";
import { CleanupIncomplete, MisuseError, ReleaseUnconfirmed, clientClosed } from "../errors.js";
import type { Hub, Settings } from "../hub.js";
import type { Event } from "../outputs.js";
import { Afterwards } from "./afterwards.js";
import type { Contender } from "./contender.js";
import { owner, seed } from "./random.js";
import { Alarm, KeepAlive, later } from "./timers.js";

/** How long a release, or a close, waits for the server's word, in ms. */
const CONFIRM_WITHIN = 5000;

/** How many errors of the client library are remembered: the one that ends something is among the last. */
const REMEMBERED = 64;

/** Runs one hub. Everything happens in its turn of the event loop; nothing here calls user code. */
export class Engine implements Sink {
  readonly keepAlive = new KeepAlive(() => this.#afterwards.want());
  readonly #driver: Driver;
  readonly #hub: Hub;
  readonly #alarm: Alarm;
  readonly #contenders = new Map<number, Contender>();
  /** Releases that the server has not confirmed, oldest first. */
  readonly #unconfirmed = new Set<Contender>();
  readonly #errors = new Map<number, unknown>();
  /** Machines that nobody asks anything of any more, still to be closed. */
  readonly #leaving: number[] = [];
  readonly #finalizers: FinalizationRegistry<number>;
  /** Grants that the finalizers do not know yet. */
  readonly #fresh = new Map<Contender, object>();
  readonly #afterwards = new Afterwards(() => this.#rest());
  #pumping = false;
  /** How often something has been put in. */
  #inputs = 0;
  #closing: Promise<void> | null = null;
  #idle: (() => void) | null = null;
  #ended = false;

  constructor(driver: Driver) {
    this.#driver = driver;
    this.#hub = driver.hub(now(), seed());
    this.#alarm = new Alarm(() => this.#ring());
    this.#finalizers = new FinalizationRegistry((key) => this.#leave(key));
    driver.start(this);
    this.#pump();
  }

  get closed(): boolean {
    return this.#closing !== null;
  }

  /** @throws MisuseError if the client has been closed. */
  check(): void {
    if (this.closed) {
      throw clientClosed();
    }
  }

  /** Opens a contender and lets it acquire: with patience in ms, for ever (null) or at once ("try"). */
  acquire(contender: Contender, settings: Settings, patience: number | null | "try"): void {
    this.check();
    const present = now();
    const key = this.#hub.open(present, settings, owner(), seed());
    contender.key = key;
    try {
      if (patience === "try") {
        this.#hub.tryAcquire(present, key);
      } else {
        this.#hub.acquire(present, key, patience ?? undefined);
      }
    } catch (error) {
      this.#hub.close(present, key);
      this.#pump();
      throw error;
    }
    this.#contenders.set(key, contender);
    this.#pump();
  }

  extend(contender: Contender): void {
    this.check();
    this.#hub.extend(now(), contender.key);
    this.#pump();
  }

  release(contender: Contender): void {
    const present = now();
    this.#hub.release(present, contender.key);
    contender.state = "releasing";
    contender.confirmBy = present + CONFIRM_WITHIN;
    this.#unconfirmed.add(contender);
    this.#alarm.set(contender.confirmBy);
    this.#pump();
  }

  /** Gives a contender up in any state; what it holds or waits for is cleaned up behind. */
  abandon(key: number): void {
    this.#contenders.delete(key);
    if (!this.#ended) {
      this.#hub.close(now(), key);
      this.#pump();
    }
  }

  /** Has a contender released when `grant` is garbage. */
  watch(grant: object, contender: Contender): void {
    this.#fresh.set(contender, grant);
    this.#afterwards.want();
  }

  unwatch(contender: Contender): void {
    if (!this.#fresh.delete(contender)) {
      this.#finalizers.unregister(contender);
    }
  }

  put(input: (hub: Hub, now: number) => void): void {
    if (this.#ended) {
      return;
    }
    try {
      input(this.#hub, now());
    } catch (error) {
      // A reply that does not fit has settled its command as unknown: the machine knows how to go on.
      if (!(error instanceof MisuseError)) {
        throw error;
      }
    }
    this.#pump();
  }

  blame(id: number, error: unknown): void {
    if (this.#errors.size >= REMEMBERED) {
      for (const oldest of this.#errors.keys()) {
        this.#errors.delete(oldest);
        break;
      }
    }
    this.#errors.set(id, error);
  }

  /** Releases everything, waits for the server's word for a bounded time, and ends the driver. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.keepAlive.hold();
    try {
      this.#hub.shutdown(now());
      for (const contender of [...this.#contenders.values()]) {
        contender.close();
      }
      this.#contenders.clear();
      this.#unconfirmed.clear();
      this.#pump();
      await this.#settled();
      const left = this.#hub.pending;
      this.#ended = true;
      this.#alarm.clear();
      await this.#driver.close();
      if (left > 0) {
        throw new CleanupIncomplete(left);
      }
    } finally {
      this.keepAlive.drop();
      this.keepAlive.clear();
    }
  }

  #settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#hub.pending === 0) {
        resolve();
        return;
      }
      const timer = later(CONFIRM_WITHIN, resolve);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #ring(): void {
    const present = now();
    for (const contender of this.#unconfirmed) {
      if (contender.confirmBy > present) {
        break;
      }
      this.#unconfirmed.delete(contender);
      contender.releasing?.reject(new ReleaseUnconfirmed(contender.lock));
      contender.releasing = null;
    }
    this.put((hub, present) => hub.handleTimeout(present));
    this.#alarm.set(this.#nextUnconfirmed());
  }

  #nextUnconfirmed(): number | null {
    for (const contender of this.#unconfirmed) {
      return contender.confirmBy;
    }
    return null;
  }

  /** Has a machine closed a little later: finalizers only write it down, and who waited for its end goes on first, with the next request. */
  #leave(key: number): void {
    this.#leaving.push(key);
    this.#afterwards.want();
  }

  /** What nobody waits for. */
  #rest(): void {
    this.keepAlive.settle();
    for (const [contender, grant] of this.#fresh) {
      this.#finalizers.register(grant, contender.key, contender);
    }
    this.#fresh.clear();
    for (const key of this.#leaving.splice(0)) {
      this.abandon(key);
    }
  }

  /** Takes out everything there is to do. What is put in meanwhile is seen by the loop that runs. */
  #pump(): void {
    this.#inputs += 1;
    if (this.#pumping) {
      return;
    }
    this.#pumping = true;
    try {
      let seen: number;
      let until: number | null;
      do {
        seen = this.#inputs;
        until = this.#drain();
        this.#driver.flush();
      } while (seen !== this.#inputs);
      this.#alarm.set(until);
    } finally {
      this.#pumping = false;
    }
    if (this.#idle !== null && this.#hub.pending === 0) {
      this.#idle();
      this.#idle = null;
    }
  }

  #drain(): number | null {
    for (;;) {
      const output = this.#hub.poll();
      if (output.type === "wait") {
        return output.until;
      }
      if (output.type === "event") {
        this.#tell(output);
        continue;
      }
      try {
        this.#driver.send(output);
      } catch (error) {
        // The library has thrown instead of refusing: nobody knows how far it got.
        this.blame(output.id, error);
        this.#hub.failed(now(), output.id, "unknown");
      }
    }
  }

  #tell(event: Event): void {
    const contender = this.#contenders.get(event.key);
    if (contender === undefined) {
      return;
    }
    let cause: unknown;
    if ("cause" in event && event.cause.command !== null) {
      cause = this.#errors.get(event.cause.command);
    }
    contender.tell(event, cause);
    if (contender.over) {
      this.#unconfirmed.delete(contender);
      this.#contenders.delete(event.key);
      this.#leave(event.key);
    }
  }
}
