/**
 * The machines of the hub, and the contender that each of them serves. The machine of a lock waits for the next acquire
 * of that lock; the others are closed.
 *
 * @module
 */

import { now } from "../clock.js";
import type { Hub, Settings } from "../hub/hub.js";
import type { Contender } from "./contender.js";
import { isRefusal } from "./mistakes.js";
import { contenderId, seed } from "./random.js";

/** The acquire timeout: in ms, none (null), or a try. */
export type AcquireTimeout = number | null | "try";

/**
 * How many machines wait to be closed at most. Otherwise they would accumulate in a program whose promise queue is
 * never empty.
 */
const MOST_LEAVING = 64;

/** How many locks have an idle machine at most. A machine and its settings use about 1.3 kB of the module's memory. */
const MOST_IDLE = 2048;

/**
 * A machine stays in the tables as long as it is open. `list.ts` describes the cost of entries that are added and
 * removed often.
 */
interface Machine {
  readonly key: number;
  /** Null if the machine is idle, or waits to be closed. */
  contender: Contender | null;
}

/** The machines of one hub. */
export class Machines {
  readonly #hub: Hub;
  readonly #forget: (key: number) => void;
  readonly #machines = new Map<number, Machine>();
  /**
   * The machine of a lock, by the lock's settings, oldest first. If the machine is idle, the next acquire uses it for
   * its attempt.
   */
  readonly #bySettings = new Map<Settings, Machine>();
  /** Machines that serve no contender, and have to be closed. */
  readonly #leaving: number[] = [];

  /** `forget` is called when a machine is not used any more, or begins a new attempt: its watches are then useless. */
  constructor(hub: Hub, forget: (key: number) => void) {
    this.#hub = hub;
    this.#forget = forget;
  }

  /** The contender that a machine serves. */
  serving(key: number): Contender | null {
    return this.#machines.get(key)?.contender ?? null;
  }

  /** Contenders that a call waits for, or that have a grant. */
  *contenders(): Generator<Contender> {
    for (const { contender } of this.#machines.values()) {
      if (contender !== null) {
        yield contender;
      }
    }
  }

  /** Begins an acquire with a machine. If the hub refuses the call, it closes the machine. */
  acquire(contender: Contender, settings: Settings, acquireTimeout: AcquireTimeout): void {
    const present = now();
    const machine = this.#take(present, settings);
    const { key } = machine;
    try {
      if (acquireTimeout === "try") {
        this.#hub.tryAcquire(present, key);
      } else {
        this.#hub.acquire(present, key, acquireTimeout ?? undefined);
      }
    } catch (error) {
      if (isRefusal(error)) {
        this.#drop(machine, settings);
        this.#close(present, key);
      }
      throw error;
    }
    machine.contender = contender;
    contender.key = key;
    contender.settings = settings;
  }

  /** Takes the idle machine of this lock, or opens a new one. */
  #take(present: number, settings: Settings): Machine {
    const idle = this.#bySettings.get(settings);
    if (idle?.contender === null) {
      return idle;
    }
    const key = this.#hub.open(present, settings, contenderId(), seed());
    const machine = { key, contender: null };
    this.#machines.set(key, machine);
    return machine;
  }

  /** A contender has ended. Returns false if it had ended before; its machine may serve the next contender. */
  leave(contender: Contender): boolean {
    const { key, state, settings, isClaim } = contender;
    const machine = this.#machines.get(key);
    if (machine?.contender !== contender || settings === null) {
      return false;
    }
    machine.contender = null;
    // The machine of an owner may serve other grants of the owner. Each claim has its own settings, so no later claim
    // can use its machine.
    if (state === "released" && !settings.hasOwner && !isClaim && this.#keep(machine, settings)) {
      this.#forget(key);
    } else {
      this.#drop(machine, settings);
      this.#leaving.push(key);
    }
    return true;
  }

  /** Keeps a machine for its lock, unless the lock has another idle one. */
  #keep(machine: Machine, settings: Settings): boolean {
    const kept = this.#bySettings.get(settings);
    if (kept?.contender === null) {
      return kept === machine;
    }
    if (kept === undefined && this.#bySettings.size >= MOST_IDLE) {
      this.#dropOldest();
    }
    this.#bySettings.set(settings, machine);
    return true;
  }

  #dropOldest(): void {
    for (const [settings, oldest] of this.#bySettings) {
      this.#bySettings.delete(settings);
      if (oldest.contender === null) {
        this.#leaving.push(oldest.key);
      }
      return;
    }
  }

  #drop(machine: Machine, settings: Settings): void {
    if (this.#bySettings.get(settings) === machine) {
      this.#bySettings.delete(settings);
    }
  }

  /** Whether so many machines wait to be closed that they have to be closed now. */
  get isFull(): boolean {
    return this.#leaving.length >= MOST_LEAVING;
  }

  /** Closes the machines that serve no contender. Returns whether there were any. */
  close(): boolean {
    if (this.#leaving.length === 0) {
      return false;
    }
    const present = now();
    for (const key of this.#leaving.splice(0)) {
      const unused = this.#close(present, key);
      if (unused !== undefined) {
        this.#forget(unused);
      }
    }
    return true;
  }

  #close(present: number, key: number): number | undefined {
    this.#machines.delete(key);
    return this.#hub.close(present, key);
  }

  /** The hub is closed, or was abandoned. */
  clear(): void {
    this.#machines.clear();
    this.#bySettings.clear();
  }
}
