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
import { type Claim, Owners } from "./owners.js";
import { owner, seed } from "./random.js";
import { Alarm, KeepAlive, later } from "./timers.js";

/** How long a release, or a close, waits for the server's word, in ms. */
const CONFIRM_WITHIN = 5000;

/** No patience is longer, in ms: a year. */
const LONGEST = 365 * 24 * 3_600_000;

/** How many errors of the client library are remembered: the one that ends something is among the last. */
const REMEMBERED = 64;

/** How long an acquire may take: in ms, for ever, or as long as the server needs to say yes or no. */
export type Patience = number | null | "try";

interface Spare {
  readonly key: number;
  readonly settings: Settings;
}

/** Runs one hub. Everything happens in its turn of the event loop; nothing here calls user code. */
export class Engine implements Sink {
  readonly keepAlive = new KeepAlive(() => this.#afterwards.want());
  readonly #driver: Driver;
  readonly #hub: Hub;
  readonly #alarm: Alarm;
  /** By the machine: of several holds of one grant, any. */
  readonly #contenders = new Map<number, Contender>();
  readonly #owners = new Owners();
  /** Releases that the server has not confirmed, oldest first. */
  readonly #unconfirmed = new Set<Contender>();
  readonly #errors = new Map<number, unknown>();
  /** Machines that nobody asks anything of any more, still to be closed. */
  readonly #leaving: number[] = [];
  /** The machine that has given its lock back last: the next acquire of the same lock is its next attempt. */
  #spare: Spare | null = null;
  /** Holds whose grant objects are garbage. */
  readonly #dropped: Contender[] = [];
  readonly #finalizers: FinalizationRegistry<Contender>;
  /** Those with grants that the finalizers do not know yet. */
  readonly #fresh: Contender[] = [];
  readonly #afterwards = new Afterwards(() => this.#rest());
  #pumping = false;
  /** Whether the hub may have more to say than has been taken out. */
  #behind = false;
  /** When the hub wants to be called. */
  #due: number | null = null;
  /** How often something has been put in. */
  #inputs = 0;
  #closing: Promise<void> | null = null;
  #idle: (() => void) | null = null;
  #ended = false;

  constructor(driver: Driver) {
    this.#driver = driver;
    this.#hub = driver.hub(now(), seed());
    this.#alarm = new Alarm(() => this.#ring());
    this.#finalizers = new FinalizationRegistry((contender) => {
      this.#dropped.push(contender);
      this.#afterwards.want();
    });
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

  /** A further hold of what the owner has; null: it has nothing, and contends as everybody does. */
  reenter(claim: Claim, lock: string, patience: Patience): Contender | null {
    this.check();
    if (typeof patience === "number" && !(patience > 0 && patience < LONGEST)) {
      return null; // The hub says what is wrong with it.
    }
    if (this.#behind) {
      this.#pump();
    }
    if (this.#due !== null && this.#due <= now()) {
      // The computer may have slept: what has ended meanwhile is told now, and is no grant any more.
      this.put((hub, present) => hub.handleTimeout(present));
    }
    return this.#owners.reenter(claim, lock);
  }

  /** Opens a contender and lets it acquire: with patience in ms, for ever (null) or at once ("try"). */
  acquire(contender: Contender, settings: Settings, patience: Patience, claim: Claim | null): void {
    this.check();
    const present = now();
    const key = this.#machine(present, settings);
    contender.key = key;
    contender.settings = settings;
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
    if (claim !== null) {
      this.#owners.begin(claim, contender);
    }
    this.#pump();
  }

  /** A machine at rest: one that knows the lock, or a new one. */
  #machine(present: number, settings: Settings): number {
    const spare = this.#spare;
    if (spare?.settings === settings) {
      this.#spare = null;
      return spare.key;
    }
    return this.#hub.open(present, settings, owner(), seed());
  }

  extend(contender: Contender): void {
    this.check();
    this.#hub.extend(now(), contender.key);
    this.#pump();
  }

  /** Turns a writer's hold into a reader's; of an owner's holds the last one turns the grant. Says whether the server has been asked. */
  downgrade(contender: Contender): boolean {
    this.check();
    const { tenure } = contender;
    const last = tenure === null || tenure.count("writer") === 1;
    if (last) {
      this.#hub.downgrade(now(), contender.key);
    }
    if (tenure !== null) {
      tenure.shared = last;
      contender.way = "reader";
    }
    this.#pump();
    return last;
  }

  /** Gives one hold back; the last one gives back the lock. */
  release(contender: Contender): void {
    const { tenure } = contender;
    const present = now();
    if (tenure?.lowers(contender) === true) {
      this.#hub.downgrade(present, contender.key);
      tenure.shared = true;
      contender.state = "lowering";
    } else if (tenure !== null && tenure.count() > 1) {
      contender.released();
      this.#forget(contender);
      return;
    } else {
      this.#hub.release(present, contender.key);
      if (tenure !== null) {
        this.#owners.end(tenure);
      }
      contender.state = "releasing";
    }
    contender.confirmBy = present + CONFIRM_WITHIN;
    this.#unconfirmed.add(contender);
    this.#alarm.set(contender.confirmBy);
    this.#pump();
  }

  /** Gives a contender up in any state; what it holds or waits for is cleaned up behind. */
  abandon(contender: Contender): void {
    if (contender.state === "held" && contender.tenure?.lowers(contender) === true && !this.#ended) {
      this.release(contender);
      return;
    }
    if (contender.state === "held") {
      contender.state = "closed";
    }
    this.#forget(contender);
  }

  /** Has a contender released when `grant` is garbage. */
  watch(grant: object, contender: Contender): void {
    contender.fresh = grant;
    this.#fresh.push(contender);
    this.#afterwards.want();
  }

  unwatch(contender: Contender): void {
    if (contender.fresh === null) {
      this.#finalizers.unregister(contender);
    }
    contender.fresh = null;
  }

  put(input: (hub: Hub, now: number) => void, id?: number): void {
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
      if (id !== undefined) {
        this.blame(id, error);
      }
    }
    this.#pump(true);
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
        for (const hold of contender.tenure?.holds ?? [contender]) {
          hold.close();
        }
      }
      this.#contenders.clear();
      this.#owners.clear();
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

  /** One is over, or is given up. Behind the last one the machine is closed a little later: who waited for its end goes on first, with the next request. */
  #forget(contender: Contender): void {
    const { key, tenure } = contender;
    this.#unconfirmed.delete(contender);
    if (tenure?.holds.delete(contender) === true) {
      for (const other of tenure.holds) {
        this.#contenders.set(key, other);
        return;
      }
      this.#owners.end(tenure);
    }
    const known = this.#contenders.get(key);
    if (known === undefined || (known !== contender && (tenure === null || known.tenure !== tenure))) {
      return; // It has been over before; its machine may have gone on to the next.
    }
    this.#contenders.delete(key);
    let over: number | undefined = key;
    if (contender.state === "released" && contender.settings !== null) {
      over = this.#spare?.key;
      this.#spare = { key, settings: contender.settings };
    }
    if (over !== undefined) {
      this.#leaving.push(over);
      this.#afterwards.want();
    }
  }

  /** What nobody waits for. */
  #rest(): void {
    this.keepAlive.settle();
    for (const contender of this.#fresh) {
      if (contender.fresh !== null) {
        this.#finalizers.register(contender.fresh, contender, contender);
        contender.fresh = null;
      }
    }
    this.#fresh.length = 0;
    for (const contender of this.#dropped.splice(0)) {
      this.abandon(contender);
    }
    if (this.#leaving.length > 0 && !this.#ended) {
      const present = now();
      for (const key of this.#leaving.splice(0)) {
        this.#hub.close(present, key);
      }
      this.#behind = true;
    }
    if (this.#behind) {
      this.#pump();
    }
  }

  /**
   * Takes out everything there is to do. What is put in meanwhile is seen by the loop that runs. `briefly`: the end of an acquire or release is told at
   * once, and what comes after it is taken out when whoever waited for it has gone on.
   */
  #pump(briefly = false): void {
    this.#inputs += 1;
    if (this.#pumping) {
      return;
    }
    this.#pumping = true;
    try {
      let seen: number;
      do {
        seen = this.#inputs;
        this.#drain(briefly);
        this.#driver.flush();
      } while (seen !== this.#inputs);
      if (this.#behind) {
        this.#afterwards.want();
      } else {
        this.#alarm.set(this.#due);
      }
    } finally {
      this.#pumping = false;
    }
    if (this.#idle !== null && this.#hub.pending === 0) {
      this.#idle();
      this.#idle = null;
    }
  }

  #drain(briefly: boolean): void {
    for (;;) {
      const output = this.#hub.next();
      if (output.type === "wait") {
        this.#due = output.until;
        this.#behind = false;
        return;
      }
      if (output.type === "event") {
        this.#tell(output);
        if (briefly && (output.event === "acquired" || output.event === "released")) {
          this.#behind = true;
          return;
        }
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
    const { tenure } = contender;
    // What is held stays held then: it is no acquire or release that was refused.
    const refused = event.event === "refused" && (tenure?.count() ?? Number(contender.state === "held")) > 0;
    if (refused && tenure !== null) {
      tenure.shared = false;
    }
    if (tenure === null) {
      this.#hear(contender, event, refused, cause);
      return;
    }
    for (const hold of [...tenure.holds]) {
      this.#hear(hold, event, refused, cause);
    }
  }

  #hear(hold: Contender, event: Event, refused: boolean, cause: unknown): void {
    if (refused && event.event === "refused") {
      hold.stay(event, cause);
    } else {
      hold.tell(event, cause);
    }
    if (hold.over) {
      this.#forget(hold);
    }
  }
}
