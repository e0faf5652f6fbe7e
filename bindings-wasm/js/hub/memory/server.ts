/**
 * The server behind `memory:`. Its WebAssembly module is compiled when the first one is made: most programs have none.
 *
 * @module
 */

import { bytes } from "../base64.js";
import { RawServer, initSync } from "../glue/fencepost_memory.js";
import { base64 } from "../glue/memory.js";
import { type Hub, Inside } from "../hub.js";
import { MemoryHub } from "./hub.js";

let compiled = false;

/** A server inside the process, for demonstrations and tests: hubs on one exclude each other. */
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

  /** The hubs that have something to poll, by {@link Hub.id}. Ask after each input, and poll them after a `handleTimeout`. */
  takeWoken(): number[] {
    return Array.from(this.raw.woken(), Number);
  }

  /** @internal */
  override connect(now: number, seed: number): Hub {
    return new MemoryHub(this.raw, now, seed);
  }
}
