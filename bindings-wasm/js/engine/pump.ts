/**
 * Polls the hub: takes all outputs, in order, and passes them on.
 *
 * @module
 */

import { now } from "../clock.js";
import type { Hub } from "../hub/hub.js";
import type { Event } from "../hub/outputs.js";
import type { Driver } from "./driver.js";
import type { Reliance } from "./mistakes.js";

/** Receives the hub's events, and errors of the driver. */
export interface Outlet {
  /** The hub has reported an event of a contender. */
  onEvent(event: Event): void;
  /** The driver has thrown an error for a command. */
  broken(error: unknown, id: number): void;
  blame(id: number, error: unknown): void;
  /** All outputs were taken, or the rest will be taken later. */
  pumped(): void;
}

/** Takes the outputs of one hub. */
export class Pump {
  readonly #hub: Hub;
  readonly #driver: Driver;
  readonly #reliance: Reliance;
  readonly #outlet: Outlet;
  #running = false;
  #behind = false;
  #due: number | null = null;
  /** How many inputs were reported. */
  #inputs = 0;

  constructor(hub: Hub, driver: Driver, reliance: Reliance, outlet: Outlet) {
    this.#hub = hub;
    this.#driver = driver;
    this.#reliance = reliance;
    this.#outlet = outlet;
  }

  /** Whether the hub may have outputs that were not taken yet. */
  get behind(): boolean {
    return this.#behind;
  }

  /** When the hub's next timer is due. */
  get due(): number | null {
    return this.#due;
  }

  /** An input was reported whose outputs may be taken later. */
  defer(): void {
    this.#inputs += 1;
    this.#behind = true;
  }

  /**
   * Takes all outputs. A loop that is running also takes the outputs of inputs that are reported in the meantime. With
   * `briefly`, the loop stops at the end of an acquire or a release, so that the caller continues at once. The rest is
   * taken after that.
   */
  run(briefly = false): void {
    this.#inputs += 1;
    if (this.#running || this.#reliance.over) {
      return;
    }
    this.#running = true;
    this.#reliance.use(() => {
      let seen: number;
      do {
        seen = this.#inputs;
        this.#drain(briefly);
        this.#driver.flush();
      } while (seen !== this.#inputs);
    });
    this.#running = false;
    this.#reliance.use(() => this.#outlet.pumped());
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
        this.#outlet.onEvent(output);
        if (briefly && (output.event === "acquired" || output.event === "released")) {
          this.#behind = true;
          return;
        }
        continue;
      }
      if (this.#reliance.failed !== null) {
        this.#outlet.blame(output.id, this.#reliance.failed);
        this.#hub.failed(now(), output.id, "closed");
        continue;
      }
      try {
        this.#driver.send(output);
      } catch (error) {
        this.#outlet.broken(error, output.id);
      }
    }
  }
}
