/**
 * `memory:`, a server inside the process. There is nothing to carry out: the hub does it by itself, and wakes the others.
 *
 * @module
 */

import { now as present } from "../../clock.js";
import { type Driver, MEMORY, type Sink } from "../../engine/driver.js";
import { zooKeeperModule } from "../../hub/families/zookeeper.js";
import type { Hub } from "../../hub/hub.js";
import { MemoryServer } from "../../hub/memory/server.js";

interface Place {
  readonly server: MemoryServer;
  readonly drivers: Map<number, MemoryDriver>;
}

/** Named servers live as long as the process. */
const places = new Map<string, Place>();

function place(name: string): Place {
  const fresh = () => ({ server: new MemoryServer(), drivers: new Map<number, MemoryDriver>() });
  if (name === "") {
    return fresh();
  }
  const known = places.get(name) ?? fresh();
  places.set(name, known);
  return known;
}

/** One client of a server inside the process. */
export class MemoryDriver implements Driver {
  readonly family = "zookeeper";
  /** @internal */
  readonly module = zooKeeperModule();
  readonly at = MEMORY;
  readonly #place: Place;
  #hub: Hub | undefined;
  #sink: Sink | undefined;

  /** On the server of that name; on one of its own if it is empty. */
  constructor(name: string) {
    this.#place = place(name);
  }

  hub(now: number, seed: number): Hub {
    this.#hub = this.#place.server.connect(now, seed);
    this.#place.drivers.set(this.#hub.id, this);
    return this.#hub;
  }

  start(sink: Sink): void {
    this.#sink = sink;
    sink.reached();
  }

  send(): void {
    // A memory hub gives no commands.
  }

  /** What one client does may concern others. */
  flush(): void {
    for (const id of this.#place.server.takeWoken()) {
      this.#place.drivers.get(id)?.wake();
    }
  }

  forget(): void {
    // Watches go with what they are for.
  }

  closing(): void {
    // Everything is answered at once.
  }

  /** Something has happened on the server. */
  wake(): void {
    this.#sink?.put((hub, now) => hub.handleTimeout(now));
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      try {
        this.#hub?.disconnect(present());
      } finally {
        // A hub that has failed has left the server nevertheless.
        if (this.#hub !== undefined) {
          this.#place.drivers.delete(this.#hub.id);
          this.flush();
        }
      }
      resolve();
    });
  }
}
