/**
 * The driving loop: everything that a hub has to say is taken out, in order, and handed on.
 *
 * @module
 */

import { now } from "../clock.js";
import type { Hub } from "../hub/hub.js";
import type { Event } from "../hub/outputs.js";
import type { Driver } from "./driver.js";
import type { Reliance } from "./mistakes.js";

/** Where the pump puts what it takes out, besides the driver. */
export interface Outlet {
  /** Something has come of a contender. */
  tell(event: Event): void;
  /** The driver has thrown at a command. */
  broken(error: unknown, id: number): void;
  blame(id: number, error: unknown): void;
  /** Everything there was to do has been taken out, or the rest is to follow. */
  pumped(): void;
}

/** Takes out what one hub says. */
export class Pump {
  readonly #hub: Hub;
  readonly #driver: Driver;
  readonly #reliance: Reliance;
  readonly #outlet: Outlet;
  #running = false;
  #behind = false;
  #due: number | null = null;
  /** How often something has been put in. */
  #inputs = 0;

  constructor(hub: Hub, driver: Driver, reliance: Reliance, outlet: Outlet) {
    this.#hub = hub;
    this.#driver = driver;
    this.#reliance = reliance;
    this.#outlet = outlet;
  }

  /** Whether the hub may have more to say than has been taken out. */
  get behind(): boolean {
    return this.#behind;
  }

  /** When the hub wants to be called. */
  get due(): number | null {
    return this.#due;
  }

  /** Something has been put in whose outputs may be taken out later. */
  defer(): void {
    this.#inputs += 1;
    this.#behind = true;
  }

  /**
   * Takes out everything there is to do. The loop that runs also sees what is put in meanwhile. `briefly`: the loop stops at the end of an acquire or
   * release, which its caller receives at once. It takes out the rest when that caller has gone on.
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
        this.#outlet.tell(output);
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
