/**
 * The server behind `memory:`.
 *
 * @module
 */

import { ConfigError, shown, unreadable } from "../../errors.js";
import { number } from "../checks.js";
import { type Hub, Inside } from "../hub.js";
import { reported } from "./answers.js";
import { MemoryHub } from "./hub.js";
import { type RawServer, memoryModule } from "./module.js";
import type { MemoryMessage, MemoryNode, MemorySession } from "./reports.js";

/**
 * A server in this process, for demonstrations and tests. Hubs on one server exclude each other.
 *
 * The server has no clock. A session ends when its hub disconnects, or by {@link expire}, and never by itself.
 *
 * The argument of a control is the {@link Hub.id} of a hub. A control throws ConfigError (`invalid-option`) if the
 * server has no such hub, or if the hub has disconnected. It changes nothing if the hub is already in that state. After
 * a control, poll the hubs that {@link takeWoken} returns.
 */
export class MemoryServer extends Inside {
  /** @internal */
  readonly raw: RawServer;

  constructor() {
    super();
    this.raw = new (memoryModule.get().RawServer)();
  }

  /**
   * The {@link Hub.id}s of the hubs that have outputs. Call it after each input. For each of the hubs, call
   * `handleTimeout`, and then poll.
   */
  takeWoken(): number[] {
    return [...this.raw.woken()];
  }

  /**
   * Ends the hub's session, as servers do when they receive nothing from a client for the session's timeout. The server
   * deletes its ephemeral nodes. A connected hub learns of it at once, a suspended one when it reconnects, a paused one
   * when it resumes. It then gets a new session.
   */
  expire(hub: number): void {
    this.#control(hub, (known) => this.raw.expire(known));
  }

  /** Cuts the hub's connection. The server keeps the session until it is {@link expire}d. */
  suspend(hub: number): void {
    this.#control(hub, (known) => this.raw.suspend(known));
  }

  /** Lets the hub connect again: in its session, or in a new one if the server has ended that one. */
  reconnect(hub: number): void {
    this.#control(hub, (known) => this.raw.reconnect(known));
  }

  /**
   * Pauses the hub, as if its process were stopped. It gets no notices and sends no requests, and no time passes for
   * it: `poll` returns a wait. It still accepts calls, but their outputs come later. A shutdown resumes it.
   */
  pause(hub: number): void {
    this.#control(hub, (known) => this.raw.pause(known));
  }

  /** Resumes the hub. It then receives what it has missed. */
  resume(hub: number): void {
    this.#control(hub, (known) => this.raw.resume(known));
  }

  /** The hubs on this server, in the order in which they connected. A hub that has disconnected is not among them. */
  sessions(): MemorySession[] {
    return reported(() => this.raw.sessions());
  }

  /** All nodes, in the order of their paths, without the root. */
  nodes(): MemoryNode[] {
    return reported(() => this.raw.nodes());
  }

  /**
   * `true` starts the recording of all messages between hubs and the server, with an empty list. `false` stops it, and
   * keeps the list. At first the server records nothing. The list grows until the next `record(true)`.
   */
  record(on: boolean): void {
    if (typeof on !== "boolean") {
      throw unreadable("record accepts true or false");
    }
    this.raw.record(on);
  }

  /** The recorded messages with a number above `after`, in order. */
  messages(after = 0): MemoryMessage[] {
    return reported(() => this.raw.messages(number("after", after)));
  }

  /** @internal */
  override connect(now: number, seed: number, sessionTimeout?: number): Hub {
    return new MemoryHub(this.raw, now, seed, sessionTimeout);
  }

  #control(hub: number, act: (hub: number) => boolean): void {
    if (!Number.isSafeInteger(number("hub", hub)) || !act(hub)) {
      const remedy = "no hub of this server has this id: give the id of a hub that has not disconnected";
      throw new ConfigError(110, "invalid-option", `hub is ${shown(hub)}: ${remedy}`);
    }
  }
}
