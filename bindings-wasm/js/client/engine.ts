/**
 * The driving loop: one hub, its driver, its timer, and the contenders that wait for its events.
 *
 * @module
 */

import { now } from "../clock.js";
import type { Driver, Sink } from "../drivers/driver.js";
import { CleanupIncomplete, type DriverError, MisuseError, clientClosed, notConnected } from "../errors.js";
import type { Hub, Settings } from "../hub.js";
import type { Event } from "../outputs.js";
import { Afterwards } from "./afterwards.js";
import { Causes } from "./causes.js";
import { CONFIRM_WITHIN, Clockwork } from "./clockwork.js";
import type { Contender } from "./contender.js";
import { Garbage } from "./garbage.js";
import { Idle } from "./idle.js";
import { Machines, type Patience } from "./machines.js";
import { Reliance, each, endAll, endWaiting } from "./mistakes.js";
import { type Claim, Owners } from "./owners.js";
import { seed } from "./random.js";
import { tell } from "./telling.js";
import { KeepAlive } from "./timers.js";

/** No patience is longer, in ms: a year. */
const LONGEST = 365 * 24 * 3_600_000;

/** How long an acquire waits for the first connection to the server unless the program says otherwise, in ms. */
export const CONNECT_WITHIN = 5000;

/** Runs one hub. Everything happens in its turn of the event loop; nothing here calls user code. */
export class Engine implements Sink {
  readonly garbage = new Garbage(() => this.#afterwards.want());
  readonly keepAlive = new KeepAlive(() => this.#afterwards.want());
  readonly #driver: Driver;
  readonly #hub: Hub;
  readonly #clockwork: Clockwork;
  /** By the machine: of several holds of one grant, any. */
  readonly #contenders = new Map<number, Contender>();
  readonly #owners = new Owners();
  readonly #causes = new Causes();
  readonly #machines: Machines;
  readonly #afterwards = new Afterwards(() => this.#rest());
  #pumping = false;
  /** Whether the hub may have more to say than has been taken out. */
  #behind = false;
  /** When the hub wants to be called. */
  #due: number | null = null;
  /** How often something has been put in. */
  #inputs = 0;
  #closing: Promise<void> | null = null;
  readonly #idle = new Idle();
  readonly #reliance = new Reliance(
    (error) => this.broken(error),
    () => this.#pump(),
  );

  /** `connectWithin`: how long an acquire waits for the first connection, in ms. */
  constructor(driver: Driver, connectWithin = CONNECT_WITHIN) {
    this.#driver = driver;
    this.#hub = driver.hub(now(), seed());
    this.#machines = new Machines(this.#hub);
    const timed = {
      contenders: { [Symbol.iterator]: () => this.#contenders.values() },
      due: () => {
        this.put((hub, present) => hub.handleTimeout(present));
      },
      notConnected: (contender: Contender) => {
        contender.end("refused", notConnected(contender.lock, driver.at, connectWithin, this.#causes.trouble));
        this.#forget(contender);
      },
    };
    this.#clockwork = new Clockwork(timed, connectWithin);
    driver.start(this);
    this.#pump();
  }

  get closed(): boolean {
    return this.#closing !== null;
  }

  /** @throws MisuseError if the client has been closed; DriverError if it cannot ask the server anything. */
  check(): void {
    if (this.closed) {
      throw clientClosed();
    }
    this.#reliance.check();
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
    const key = this.#reliance.ask(() => this.#machines.acquire(settings, patience));
    contender.key = key;
    contender.settings = settings;
    this.#contenders.set(key, contender);
    this.#clockwork.acquiring(contender);
    if (claim !== null) {
      this.#owners.begin(claim, contender);
    }
    this.#pump();
  }

  extend(contender: Contender): void {
    this.check();
    this.#reliance.ask(() => this.#hub.extend(now(), contender.key));
    this.#pump();
  }

  /** Turns a writer's hold into a reader's; of an owner's holds the last one turns the grant. Says whether the server has been asked. */
  downgrade(contender: Contender): boolean {
    this.check();
    const { tenure } = contender;
    const last = tenure === null || tenure.count("writer") === 1;
    if (last) {
      this.#reliance.ask(() => this.#hub.downgrade(now(), contender.key));
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
    if (tenure?.lowers(contender) === true) {
      this.#reliance.ask(() => this.#hub.downgrade(now(), contender.key));
      tenure.shared = true;
      contender.state = "lowering";
    } else if (tenure !== null && tenure.count() > 1) {
      contender.released();
      this.#forget(contender);
      return;
    } else {
      this.#reliance.ask(() => this.#hub.release(now(), contender.key));
      if (tenure !== null) {
        this.#owners.end(tenure);
      }
      contender.state = "releasing";
    }
    this.#clockwork.releasing(contender);
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

  put(input: (hub: Hub, now: number) => void, id?: number): void {
    if (this.#ended) {
      return;
    }
    try {
      input(this.#hub, now());
    } catch (error) {
      // A reply that does not fit has settled its command as unknown: the machine knows how to go on.
      if (!(error instanceof MisuseError)) {
        this.broken(error, id);
      } else if (id !== undefined) {
        this.blame(id, error);
      }
    }
    this.#pump(true);
  }

  blame(id: number, error: unknown): void {
    this.#causes.set(id, error);
  }

  broken(error: unknown, id?: number): void {
    if (this.#ended) {
      return;
    }
    const failed = this.#reliance.fail(error);
    if (id === undefined) {
      this.#give(failed);
      return;
    }
    this.blame(id, failed);
    for (const contender of [...this.#contenders.values()]) {
      if (endWaiting(contender, failed)) {
        this.#forget(contender);
      }
    }
    this.put((hub, present) => hub.failed(present, id, "closed"));
  }

  get #ended(): boolean {
    return this.#reliance.over;
  }

  /** Gives the hub up: what it says cannot be relied on any more, if it still says something. */
  #give(failed: DriverError): void {
    this.#reliance.over = true;
    this.#clockwork.closing();
    this.#clockwork.clear();
    endAll(this.#contenders.values(), failed);
    this.#contenders.clear();
    this.#owners.clear();
    this.#idle.reached();
  }

  reached(): void {
    this.#clockwork.reached();
    this.#causes.trouble = undefined;
  }

  trouble(error: unknown): void {
    this.#causes.trouble = error;
  }

  /** Releases everything, waits for the server's word for a bounded time, and ends the driver. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.keepAlive.hold();
    try {
      this.#driver.closing();
      const left = await this.#leave();
      const given = this.#ended ? this.#reliance.failed : null;
      this.#reliance.over = true;
      this.#clockwork.clear();
      await this.#driver.close().catch((error: unknown) => {
        throw given ?? error;
      });
      if (given !== null) {
        throw given;
      }
      if (left > 0) {
        throw new CleanupIncomplete(left);
      }
    } finally {
      this.keepAlive.drop();
      this.keepAlive.clear();
    }
  }

  /** Releases everything. Gives how many the server has not answered for. */
  async #leave(): Promise<number> {
    this.#reliance.use(() => this.#hub.shutdown(now()));
    for (const hold of each(this.#contenders.values())) {
      hold.close();
    }
    this.#contenders.clear();
    this.#owners.clear();
    this.#clockwork.closing();
    this.#pump();
    if (!this.#ended && this.#hub.pending > 0) {
      await this.#idle.wait(CONFIRM_WITHIN);
    }
    return this.#ended ? 0 : this.#hub.pending;
  }

  /** One is over, or is given up. Behind the last one the machine is closed a little later: who waited for its end goes on first, with the next request. */
  #forget(contender: Contender): void {
    const { key, tenure } = contender;
    this.#clockwork.forget(contender);
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
    this.#driver.forget(key);
    if (this.#machines.leave(contender)) {
      this.#closeMachines();
    }
    this.#afterwards.want();
  }

  #closeMachines(): void {
    this.#reliance.use(() => {
      if (this.#machines.close()) {
        this.#inputs += 1;
        this.#behind = true;
      }
    });
  }

  /** What nobody waits for. */
  #rest(): void {
    this.keepAlive.settle();
    this.garbage.register();
    for (const contender of this.garbage.takeDropped()) {
      this.abandon(contender);
    }
    this.#closeMachines();
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
    if (this.#pumping || this.#ended) {
      return;
    }
    this.#pumping = true;
    this.#reliance.use(() => {
      let seen: number;
      do {
        seen = this.#inputs;
        this.#drain(briefly);
        this.#driver.flush();
      } while (seen !== this.#inputs);
    });
    this.#pumping = false;
    this.#reliance.use(() => this.#pumped());
  }

  #pumped(): void {
    if (this.#behind) {
      this.#afterwards.want();
    } else {
      this.#clockwork.set(this.#due);
    }
    if (this.#idle.awaited && this.#hub.pending === 0) {
      this.#idle.reached();
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
      if (this.#reliance.failed !== null) {
        this.blame(output.id, this.#reliance.failed);
        this.#hub.failed(now(), output.id, "closed");
        continue;
      }
      try {
        this.#driver.send(output);
      } catch (error) {
        this.broken(error, output.id);
      }
    }
  }

  #tell(event: Event): void {
    const contender = this.#contenders.get(event.key);
    if (contender === undefined) {
      return;
    }
    tell(contender, event, this.#causes.of(event), this.#driver.at, (hold) => {
      this.#forget(hold);
    });
  }
}
