/**
 * The server behind `memory:`.
 *
 * @module
 */

import { type Hub, Inside } from "../hub.js";
import { MemoryHub } from "./hub.js";
import { type RawServer, memoryModule } from "./module.js";

/** A server in this process, for demonstrations and tests. Hubs on one server exclude each other. */
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
    return Array.from(this.raw.woken(), Number);
  }

  /** @internal */
  override connect(now: number, seed: number): Hub {
    return new MemoryHub(this.raw, now, seed);
  }
}
