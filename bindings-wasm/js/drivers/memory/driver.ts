/**
 * `memory:`, a server in this process. The driver carries out no commands: the hub itself does, and wakes other hubs.
 *
 * @module
 */

import { now as present } from "../../clock.js";
import { type Driver, MEMORY, type Sink } from "../../engine/driver.js";
import { zooKeeperModule } from "../../hub/families/zookeeper.js";
import type { Hub } from "../../hub/hub.js";
import { MemoryServer } from "../../hub/memory/server.js";

/** A server, and its clients. */
export class Place {
  readonly server = new MemoryServer();
  readonly drivers = new Map<number, MemoryDriver>();

  /** A call of one client, or a control, may cause outputs of others. */
  wake(): void {
    for (const id of this.server.takeWoken()) {
      this.drivers.get(id)?.wake();
    }
  }
}

/** A server with a name exists as long as the process. */
const places = new Map<string, Place>();

/** The server of that name. Without a name, it is a new one. */
export function place(name: string): Place {
  const known = places.get(name) ?? new Place();
  if (name !== "") {
    places.set(name, known);
  }
  return known;
}

const drivers = new WeakMap<object, MemoryDriver>();

/** The driver of a client, if the client is on a server in this process. */
export function driverOf(client: object): MemoryDriver | undefined {
  return drivers.get(client);
}

/** One client of a server in this process. */
export class MemoryDriver implements Driver {
  readonly family = "zookeeper";
  /** @internal */
  readonly module = zooKeeperModule();
  readonly at = MEMORY;
  /** @internal */
  readonly place: Place;
  readonly #sessionTimeout: number;
  #hub: Hub | undefined;
  #sink: Sink | undefined;

  /** Connects to the server of that name. Without a name, it makes a new server. `sessionTimeout` is in ms. */
  constructor(name: string, sessionTimeout: number) {
    this.place = place(name);
    this.#sessionTimeout = sessionTimeout;
  }

  /** The number of its hub on the server. */
  get id(): number {
    return this.#hub?.id ?? 0;
  }

  /** @internal It serves this client. */
  serves(client: object): void {
    drivers.set(client, this);
  }

  hub(now: number, seed: number): Hub {
    this.#hub = this.place.server.connect(now, seed, this.#sessionTimeout);
    this.place.drivers.set(this.#hub.id, this);
    return this.#hub;
  }

  start(sink: Sink): void {
    this.#sink = sink;
    sink.reached();
  }

  send(): void {
    // A hub on memory issues no commands.
  }

  flush(): void {
    this.place.wake();
  }

  forget(): void {
    // A watch ends with its machine.
  }

  closing(): void {
    // Nothing is in flight: every command gets its reply at once.
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
        // Even if `disconnect` throws, the hub has left the server.
        if (this.#hub !== undefined) {
          this.place.drivers.delete(this.#hub.id);
          this.flush();
        }
      }
      resolve();
    });
  }
}
