/**
 * The server behind `memory:`.
 *
 * @module
 */

import { type Hub, Inside } from "../hub.js";
import { MemoryHub } from "./hub.js";
import { type RawServer, memoryModule } from "./module.js";

/** A server inside the process, for demonstrations and tests: hubs on one exclude each other. */
export class MemoryServer extends Inside {
  /** @internal */
  readonly raw: RawServer;

  constructor() {
    super();
    this.raw = new (memoryModule.get().RawServer)();
  }

  /** The hubs that have something to poll, by {@link Hub.id}. Ask after each input, and poll them after a `handleTimeout`. */
  takeWoken(): number[] {
    return Array.from(this.raw.woken(), Number);
  }

  /** @internal */
  override connect(now: number, seed: number): Hub {
    return new MemoryHub(this.raw, now, seed);
  }
}
