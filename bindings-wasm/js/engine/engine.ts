/**
 * One hub, its driver, its timers, and the contenders that wait for its events.
 *
 * @module
 */

import { now } from "../clock.js";
import { CleanupIncomplete, type DriverError, MisuseError, clientClosed, notConnected } from "../errors.js";
import type { Hub, Settings } from "../hub/hub.js";
import type { Event } from "../hub/outputs.js";
import { Background } from "./background.js";
import { Causes } from "./causes.js";
import type { Contender } from "./contender.js";
import type { Driver, Sink } from "./driver.js";
import { Finalizers } from "./finalizers.js";
import { Idle } from "./idle.js";
import { Machines, type AcquireTimeout } from "./machines.js";
import { Reliance, endAll, endWaiting } from "./mistakes.js";
import { Pump } from "./pump.js";
import { seed } from "./random.js";
import { CONFIRM_WITHIN, CLOSE_TIME, Schedule } from "./schedule.js";
import { KeepAlive } from "./timers.js";

/** How long an acquire waits for the first connection by default, in ms. */
export const CONNECT_WITHIN = 5000;

/** Runs one hub. Everything happens in one turn of the event loop, and no code of the program is called. */
export class Engine implements Sink {
  readonly finalizers = new Finalizers(() => this.#background.want());
  readonly keepAlive = new KeepAlive(() => this.#background.want());
  readonly #driver: Driver;
  readonly #hub: Hub;
  readonly #schedule: Schedule;
  readonly #causes = new Causes(() => this.#driver.trouble);
  readonly #machines: Machines;
  readonly #background = new Background(() => this.#rest());
  readonly #pump: Pump;
  #closing: Promise<void> | null = null;
  readonly #idle = new Idle();
  readonly #reliance = new Reliance(
    (error) => this.broken(error),
    () => this.#pump.run(),
  );

  /** `connectWithin`: how long an acquire waits for the first connection, in ms. */
  constructor(driver: Driver, connectWithin = CONNECT_WITHIN) {
    this.#driver = driver;
    this.#hub = driver.hub(now(), seed());
    this.#machines = new Machines(this.#hub, (key) => driver.forget(key));
    this.#pump = new Pump(this.#hub, driver, this.#reliance, {
      onEvent: (event) => this.#onEvent(event),
      broken: (error, id) => this.broken(error, id),
      blame: (id, error) => this.blame(id, error),
      pumped: () => this.#pumped(),
    });
    const timed = {
      contenders: () => this.#machines.contenders(),
      due: () => {
        this.put((hub, present) => hub.handleTimeout(present));
      },
      notConnected: (contender: Contender) => {
        contender.end("refused", notConnected(contender.lock, driver.at, connectWithin, this.#causes.trouble));
        this.#forget(contender);
      },
    };
    this.#schedule = new Schedule(timed, connectWithin);
    driver.start(this);
    this.#pump.run();
  }

  get closed(): boolean {
    return this.#closing !== null;
  }

  /** @throws MisuseError if the client is closed; DriverError after a programming error. */
  check(): void {
    if (this.closed) {
      throw clientClosed();
    }
    this.#reliance.check();
  }

  /** Opens a contender and begins its acquire: with a timeout in ms, without one (null), or as a try ("try"). */
  acquire(contender: Contender, settings: Settings, acquireTimeout: AcquireTimeout): void {
    this.check();
    if (settings.hasOwner) {
      this.#catchUp();
    }
    // This deadline is not later than the hub's own. If both have passed, the contender gets the error that names a
    // remedy.
    const since = now();
    this.#reliance.ask(contender.lock, () => this.#machines.acquire(contender, settings, acquireTimeout));
    this.#schedule.acquiring(contender, since);
    this.#pump.run();
  }

  extend(contender: Contender): void {
    this.check();
    this.#reliance.ask(contender.lock, () => this.#hub.extend(now(), contender.key));
    this.#pump.run();
  }

  /** Downgrades a writer's grant. */
  downgrade(contender: Contender): void {
    this.check();
    this.#reliance.ask(contender.lock, () => this.#hub.downgrade(now(), contender.key));
    this.#pump.run();
  }

  /** Releases a grant, or a claim after which nothing has happened. */
  release(contender: Contender): void {
    this.#end(contender, (present) => this.#hub.release(present, contender.key));
    this.#schedule.releasing(contender);
    this.#pump.run();
  }

  /** Leaves a claim: it is unknown whether the operation took effect. */
  leave(contender: Contender): void {
    this.#end(contender, (present) => this.#hub.leave(present, contender.key));
    this.#schedule.releasing(contender);
    this.#pump.run();
  }

  /**
   * Completes a claim. The caller needs to know whether the result is stored, so it waits for the server's reply, or
   * for the end of the lease.
   */
  complete(contender: Contender, tag: string, result: Uint8Array): void {
    this.#end(contender, (present) => this.#hub.complete(present, contender.key, tag, result));
    this.#pump.run();
  }

  #end(contender: Contender, ask: (present: number) => void): void {
    this.#reliance.ask(contender.lock, () => ask(now()));
    contender.state = "releasing";
  }

  /** Abandons a contender in any state. The client releases its grant or deletes its node in the background. */
  abandon(contender: Contender): void {
    if (contender.state === "held" || contender.lapsed) {
      contender.state = "closed";
    }
    this.#forget(contender);
  }

  put(input: (hub: Hub, now: number) => void, id?: number): void {
    if (this.#ended) {
      return;
    }
    // The contender gets the error that names a remedy, and not the hub's error.
    this.#schedule.beforeInput();
    try {
      input(this.#hub, now());
    } catch (error) {
      // The hub treats a reply of the wrong type as an unknown outcome, so the machine continues.
      if (!(error instanceof MisuseError)) {
        this.broken(error, id);
      } else if (id !== undefined) {
        this.blame(id, error);
      }
    }
    this.#pump.run(true);
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
    for (const contender of [...this.#machines.contenders()]) {
      if (endWaiting(contender, failed)) {
        this.#forget(contender);
      }
    }
    this.put((hub, present) => hub.failed(present, id, "closed"));
  }

  get #ended(): boolean {
    return this.#reliance.over;
  }

  /** Abandons the hub after a defect: its outputs are not reliable any more. */
  #give(failed: DriverError): void {
    this.#reliance.over = true;
    this.#schedule.closing();
    this.#schedule.clear();
    endAll(this.#machines.contenders(), failed);
    this.#machines.clear();
    this.#idle.reached();
  }

  reached(): void {
    this.#schedule.reached();
    this.#causes.trouble = undefined;
  }

  trouble(error: unknown): void {
    this.#causes.trouble = error;
  }

  serves(key: number): boolean {
    return this.#hub.serves(key);
  }

  /**
   * Releases everything, waits for the server's replies for a limited time, and closes the driver. A second call waits
   * for the first, which reports the result.
   */
  close(): Promise<void> {
    if (this.#closing !== null) {
      return this.#closing.catch(() => undefined);
    }
    this.#closing = this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.keepAlive.hold();
    const until = now() + CONFIRM_WITHIN;
    try {
      this.#driver.closing();
      const left = await this.#leave();
      const given = this.#ended ? this.#reliance.failed : null;
      this.#reliance.over = true;
      this.#schedule.clear();
      await this.#driver.close(Math.max(until - now(), CLOSE_TIME)).catch((error: unknown) => {
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
      this.keepAlive.end();
    }
  }

  /** Releases everything. Returns how many releases the server has not confirmed, or has refused. */
  async #leave(): Promise<number> {
    this.#reliance.use(() => this.#hub.shutdown(now()));
    for (const contender of [...this.#machines.contenders()]) {
      contender.close();
    }
    this.#machines.clear();
    this.#schedule.closing();
    this.#pump.run();
    if (!this.#ended && this.#hub.pending > 0) {
      await this.#idle.wait(CONFIRM_WITHIN - CLOSE_TIME);
    }
    if (this.#ended) {
      return 0; // After a defect, the core has no outputs.
    }
    return this.#hub.pending + (this.#schedule.everReached ? this.#hub.unreleased : 0);
  }

  /**
   * A contender has ended, or the program has abandoned it. Its machine is closed a little later, so that the waiting
   * caller continues first, with its next request.
   */
  #forget(contender: Contender): void {
    this.#schedule.forget(contender);
    if (!this.#machines.leave(contender)) {
      return;
    }
    if (this.#machines.isFull) {
      this.#closeMachines();
    }
    this.#background.want();
  }

  /**
   * The result of an owner's acquire depends on the owner's other acquires: first ends those that the program has
   * abandoned, and those whose timeout ended while no timer could run.
   */
  #catchUp(): void {
    this.#closeMachines();
    if (this.#pump.behind) {
      this.#pump.run();
    }
    if (this.#pump.due !== null && this.#pump.due <= now()) {
      this.put((hub, present) => hub.handleTimeout(present));
    }
  }

  #closeMachines(): void {
    this.#reliance.use(() => {
      if (this.#machines.close()) {
        this.#pump.defer();
      }
    });
  }

  /** Background work. */
  #rest(): void {
    this.keepAlive.settle();
    this.finalizers.register();
    for (const contender of this.finalizers.takeDropped()) {
      this.abandon(contender);
    }
    this.#closeMachines();
    if (this.#pump.behind) {
      this.#pump.run();
    }
  }

  #pumped(): void {
    if (this.#pump.behind) {
      this.#background.want();
    } else {
      this.#schedule.set(this.#pump.due);
    }
    if (this.#idle.awaited && this.#hub.pending === 0) {
      this.#idle.reached();
    }
  }

  #onEvent(event: Event): void {
    const contender = this.#machines.serving(event.key);
    if (contender === null) {
      return;
    }
    contender.onEvent(event, this.#causes.of(event), this.#driver.at);
    if (contender.over) {
      this.#forget(contender);
    }
  }
}
