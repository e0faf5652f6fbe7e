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
import { CONFIRM_WITHIN, FAREWELL, Schedule } from "./schedule.js";
import { KeepAlive } from "./timers.js";

/** How long an acquire waits for the first connection to the server unless the program says otherwise, in ms. */
export const CONNECT_WITHIN = 5000;

/** Runs one hub. Everything happens in its turn of the event loop; nothing here calls user code. */
export class Engine implements Sink {
  readonly finalizers = new Finalizers(() => this.#background.want());
  readonly keepAlive = new KeepAlive(() => this.#background.want());
  readonly #driver: Driver;
  readonly #hub: Hub;
  readonly #schedule: Schedule;
  readonly #contenders = new Map<number, Contender>();
  readonly #causes = new Causes();
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
    this.#machines = new Machines(this.#hub);
    this.#pump = new Pump(this.#hub, driver, this.#reliance, {
      tell: (event) => this.#tell(event),
      broken: (error, id) => this.broken(error, id),
      blame: (id, error) => this.blame(id, error),
      pumped: () => this.#pumped(),
    });
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
    this.#schedule = new Schedule(timed, connectWithin);
    driver.start(this);
    this.#pump.run();
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

  /** Opens a contender and lets it acquire: with a timeout in ms, for ever (null) or at once ("try"). */
  acquire(contender: Contender, settings: Settings, acquireTimeout: AcquireTimeout): void {
    this.check();
    if (settings.hasOwner) {
      this.#catchUp();
    }
    // Not later than the hub's own deadline: if both are over, the error that names the remedy comes first.
    const since = now();
    const key = this.#reliance.ask(contender.lock, () => this.#machines.acquire(settings, acquireTimeout));
    contender.key = key;
    contender.settings = settings;
    this.#contenders.set(key, contender);
    this.#schedule.acquiring(contender, since);
    this.#pump.run();
  }

  extend(contender: Contender): void {
    this.check();
    this.#reliance.ask(contender.lock, () => this.#hub.extend(now(), contender.key));
    this.#pump.run();
  }

  /** Turns a writer's grant into a reader's. */
  downgrade(contender: Contender): void {
    this.check();
    this.#reliance.ask(contender.lock, () => this.#hub.downgrade(now(), contender.key));
    this.#pump.run();
  }

  /** Gives a grant back, or ends a claim: nothing has happened. */
  release(contender: Contender): void {
    this.#end(contender, (present) => this.#hub.release(present, contender.key));
    this.#schedule.releasing(contender);
    this.#pump.run();
  }

  /** Ends a claim whose outcome is not known. */
  leave(contender: Contender): void {
    this.#end(contender, (present) => this.#hub.leave(present, contender.key));
    this.#schedule.releasing(contender);
    this.#pump.run();
  }

  /** Ends a claim with a result. Whether it is stored matters, so its caller waits for the server's word, or for the end of the lease. */
  complete(contender: Contender, tag: string, result: Uint8Array): void {
    this.#end(contender, (present) => this.#hub.complete(present, contender.key, tag, result));
    this.#pump.run();
  }

  #end(contender: Contender, ask: (present: number) => void): void {
    this.#reliance.ask(contender.lock, () => ask(now()));
    contender.state = "releasing";
  }

  /** Gives a contender up in any state; what it holds or waits for is cleaned up behind. */
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
    this.#schedule.closing();
    this.#schedule.clear();
    endAll(this.#contenders.values(), failed);
    this.#contenders.clear();
    this.#idle.reached();
  }

  reached(): void {
    this.#schedule.reached();
    this.#causes.trouble = undefined;
  }

  trouble(error: unknown): void {
    this.#causes.trouble = error;
  }

  /**
   * Releases everything, waits for the server's word for a bounded time, and ends the driver. Another call waits for the end of the first, which has said
   * what came of it.
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
      await this.#driver.close(Math.max(until - now(), FAREWELL)).catch((error: unknown) => {
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

  /** Releases everything. Gives how many the server has not answered for, or has not let go. */
  async #leave(): Promise<number> {
    this.#reliance.use(() => this.#hub.shutdown(now()));
    for (const contender of [...this.#contenders.values()]) {
      contender.close();
    }
    this.#contenders.clear();
    this.#schedule.closing();
    this.#pump.run();
    if (!this.#ended && this.#hub.pending > 0) {
      await this.#idle.wait(CONFIRM_WITHIN - FAREWELL);
    }
    if (this.#ended) {
      return 0; // A core that has failed answers nothing.
    }
    return this.#hub.pending + (this.#schedule.everReached ? this.#hub.unreleased : 0);
  }

  /** One is over, or is given up. Behind the last one the machine is closed a little later: who waited for its end goes on first, with the next request. */
  #forget(contender: Contender): void {
    const { key, settings, granted } = contender;
    this.#schedule.forget(contender);
    if (this.#contenders.get(key) !== contender) {
      return; // It has been over before; its machine may have gone on to the next.
    }
    this.#contenders.delete(key);
    if (settings?.hasOwner !== true || !granted) {
      // The machine of an owner's hold may serve others. It watches its own node, and that watch ends with the node.
      this.#driver.forget(key);
    }
    if (this.#machines.leave(contender)) {
      this.#closeMachines();
    }
    this.#background.want();
  }

  /** What an owner gets goes by what has become of its other acquires: those that it has given up, and those whose time has ended while nothing ran. */
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

  /** What nobody waits for. */
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

  #tell(event: Event): void {
    const contender = this.#contenders.get(event.key);
    if (contender === undefined) {
      return;
    }
    contender.tell(event, this.#causes.of(event), this.#driver.at);
    if (contender.over) {
      this.#forget(contender);
    }
  }
}
