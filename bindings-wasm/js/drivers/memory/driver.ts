/**
 * `memory:`, a server in this process. The driver carries out nothing: the hub itself does, and wakes other hubs.
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

/** A server with a name exists as long as the process. */
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

/** One client of a server in this process. */
export class MemoryDriver implements Driver {
  readonly family = "zookeeper";
  /** @internal */
  readonly module = zooKeeperModule();
  readonly at = MEMORY;
  readonly #place: Place;
  #hub: Hub | undefined;
  #sink: Sink | undefined;

  /** Connects to the server of that name. Without a name, it makes a new server. */
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
    // A hub on memory issues no commands.
  }

  /** A call of one client may cause outputs of others. */
  flush(): void {
    for (const id of this.#place.server.takeWoken()) {
      this.#place.drivers.get(id)?.wake();
    }
  }

  forget(): void {
    // A watch ends with its machine.
  }

  closing(): void {
    // Nothing is in flight: every command has its answer at once.
  }

  /** The hub has outputs because of another client. */
  wake(): void {
    this.#sink?.put((hub, now) => hub.handleTimeout(now));
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      try {
        this.#hub?.disconnect(present());
      } finally {
        // A hub that was given up has left the server, too.
        if (this.#hub !== undefined) {
          this.#place.drivers.delete(this.#hub.id);
          this.flush();
        }
      }
      resolve();
    });
  }
}
