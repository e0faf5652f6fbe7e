/**
 * Control over `memory:NAME`, for tests: sessions that expire, connections that are cut, clients that pause.
 *
 * @module
 */

import { type Place, driverOf, place } from "../drivers/memory/driver.js";
import { ConfigError, clientClosed, unreadable } from "../errors.js";
import { loadZooKeeper } from "../hub/families/zookeeper.js";
import { readAddress } from "../hub/hub.js";
import { memoryModule } from "../hub/memory/module.js";
import type { MemoryMessage, MemoryNode, MemorySession } from "../hub/memory/reports.js";
import { Client } from "./client.js";

/**
 * The server of the clients whose address is `memory:NAME`.
 *
 * ```ts
 * const server = await memoryServer("memory:stock");
 * const client = await connect("memory:stock");
 * const grant = await client.lock("42").acquire();
 * server.session(client).expire();
 * console.log(await grant.lost);
 * ```
 *
 * @throws ConfigError for another address, and for `memory:` without a name.
 */
export async function memoryServer(address: string): Promise<MemoryControls> {
  const module = await loadZooKeeper();
  const read = readAddress(() => module, address);
  if (read.kind !== "memory") {
    const text = `this is an address of ${read.kind}, and no server in this process: give memory:NAME`;
    throw new ConfigError(106, "invalid-url", text);
  }
  if (read.name === "") {
    const text = "memory: without a name is a new server for each client: give memory:NAME";
    throw new ConfigError(106, "invalid-url", text);
  }
  await memoryModule.load();
  return new MemoryControls(place(read.name), `memory:${read.name}`);
}

/**
 * Controls of a server in this process. {@link memoryServer} returns them.
 *
 * The server has no clock. A session ends when its client is closed, or by {@link ClientSession.expire}, and never by
 * itself.
 */
export class MemoryControls {
  readonly #place: Place;
  readonly #address: string;

  /** @internal */
  constructor(place: Place, address: string) {
    this.#place = place;
    this.#address = address;
  }

  /**
   * The session of a client. @throws ConfigError for a client of another server; MisuseError if the client is closed.
   */
  session(client: Client): ClientSession {
    if (!(client instanceof Client)) {
      throw unreadable("session accepts a client");
    }
    const driver = driverOf(client);
    if (driver?.place !== this.#place) {
      const text = `the client is not connected to ${this.#address}: give one that is`;
      throw new ConfigError(110, "invalid-option", text);
    }
    const session = new ClientSession(this.#place, driver.id);
    known(this.#place, session.hub);
    return session;
  }

  /** The sessions of all clients that are not closed, in the order in which they connected. */
  sessions(): ClientSession[] {
    return this.#place.server.sessions().map(({ hub }) => new ClientSession(this.#place, hub));
  }

  /** All nodes, in the order of their paths, without the root. `hub` is that of a {@link ClientSession}. */
  nodes(): MemoryNode[] {
    return this.#place.server.nodes();
  }

  /**
   * `true` starts the recording of all messages between clients and the server, with an empty list. `false` stops it,
   * and keeps the list. At first the server records nothing. The list grows until the next `record(true)`.
   */
  record(on: boolean): void {
    this.#place.server.record(on);
  }

  /** The recorded messages with a number above `after`, in order. */
  messages(after = 0): MemoryMessage[] {
    return this.#place.server.messages(after);
  }
}

/**
 * The present session of a client. After an expiry, this is the client's next session.
 *
 * A control changes nothing if the session is already in that state. All members but {@link hub} throw MisuseError if
 * the client is closed.
 */
export class ClientSession {
  /** The number of the client on its server. */
  readonly hub: number;
  readonly #place: Place;

  /** @internal */
  constructor(place: Place, hub: number) {
    this.#place = place;
    this.hub = hub;
  }

  /** The number of the session. Another one means that an earlier session has ended. */
  get id(): bigint {
    return known(this.#place, this.hub).session;
  }

  /**
   * `suspended`: the client has no connection, and the server keeps the session. `expired`: the server has ended the
   * session, and the client, which is suspended or paused, has not learned of it.
   */
  get state(): MemorySession["state"] {
    return known(this.#place, this.hub).state;
  }

  /** Whether the client is paused. */
  get paused(): boolean {
    return known(this.#place, this.hub).paused;
  }

  /**
   * Ends the session, as servers do when they receive nothing from a client for the session's timeout: its locks become
   * free. A connected client loses its grants at once, a suspended one when it reconnects, a paused one when it
   * resumes. It then gets a new session.
   */
  expire(): void {
    this.#control((hub) => this.#place.server.expire(hub));
  }

  /**
   * Cuts the connection. The server keeps the session until it is expired. The client ends its grants itself when the
   * session's timeout has passed on its own clock.
   */
  suspend(): void {
    this.#control((hub) => this.#place.server.suspend(hub));
  }

  /** Lets the client connect again: in its session, or in a new one if the server has ended that one. */
  reconnect(): void {
    this.#control((hub) => this.#place.server.reconnect(hub));
  }

  /**
   * Pauses the client, as if its process were stopped: it receives nothing, sends nothing, and its calls wait. Its grants
   * stay held, even if the server gives the lock to another client. A close resumes it.
   */
  pause(): void {
    this.#control((hub) => this.#place.server.pause(hub));
  }

  /** Resumes the client. It then receives what it has missed. */
  resume(): void {
    this.#control((hub) => this.#place.server.resume(hub));
  }

  #control(control: (hub: number) => void): void {
    control(known(this.#place, this.hub).hub);
    this.#place.wake();
  }
}

function known(place: Place, hub: number): MemorySession {
  const found = place.server.sessions().find((session) => session.hub === hub);
  if (found === undefined) {
    throw clientClosed();
  }
  return found;
}
