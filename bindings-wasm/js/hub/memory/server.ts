/**
 * The server behind `memory:`. Its WebAssembly module is compiled for the first server, because most programs have
 * none.
 *
 * @module
 */

import { bytes } from "../base64.js";
import { RawServer, initSync } from "../glue/fencepost_memory.js";
import { base64 } from "../glue/memory.js";
import { type Hub, Inside } from "../hub.js";
import { MemoryHub } from "./hub.js";

let compiled = false;

/** A server in this process, for demonstrations and tests. Hubs on one server exclude each other. */
export class MemoryServer extends Inside {
  /** @internal */
  readonly raw: RawServer;

  constructor() {
    super();
    if (!compiled) {
      initSync({ module: bytes(base64) });
      compiled = true;
    }
    this.raw = new RawServer();
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
