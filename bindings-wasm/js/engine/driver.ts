/**
 * The interfaces between a driver and the client's engine. The contract is docs/reference/drivers.md.
 *
 * @module
 */

import type { Module } from "../hub/families/module.js";
import type { Family, Hub } from "../hub/hub.js";
import type { Command } from "../hub/outputs.js";

/** The part of the engine that a driver uses: it accepts outcomes and notices. */
export interface Sink {
  /**
   * Reports an input to the hub at the present time, and then carries out all outputs. `id` is the command that the
   * input answers: if the hub rejects the input, the engine stores the error as that command's cause.
   */
  put(input: (hub: Hub, now: number) => void, id?: number): void;
  /** Stores the client library's own error for a command, as the cause of an event. */
  blame(id: number, error: unknown): void;
  /**
   * Reports a programming error. Every call ends with it, and the client sends nothing more. `id` is the command that
   * failed. Without it, the hub may have missed a notice, so grants are lost, too.
   */
  broken(error: unknown, id?: number): void;
  /** The driver has reached the server, perhaps again. From now on, an acquire without a timeout waits without limit. */
  reached(): void;
  /** Why there is no connection at the moment. */
  trouble(error: unknown): void;
  /** Whether a contender uses this machine. The driver must not add a watch for a machine that no contender uses. */
  serves(key: number): boolean;
}

/** The address of a `memory:` server. */
export const MEMORY = "memory:";

/** Carries out commands with one client library. */
export interface Driver {
  readonly family: Family;
  /** @internal The module with the machines of its family. */
  readonly module: Module;
  /** The server's address, for error texts: without user and password. */
  readonly at: string;
  /** Sets the hub that it drives. It is called once, before all other methods. */
  hub(now: number, seed: number): Hub;
  /** Begins: connects if the connection is its own, adds its listeners, and reports the session. */
  start(sink: Sink): void;
  /** Why there is no connection at the moment, if it has not been reported: while the first one is being made. */
  readonly trouble?: unknown;
  /** Passes one command to the library, in the order of the calls. */
  send(command: Command): void;
  /** All polled commands have been passed: sends the buffered ones. */
  flush(): void;
  /** No contender uses this machine any more: removes its watches. */
  forget(key: number): void;
  /** The client begins to close. The driver drops unsent commands, and waits a shorter time for replies. */
  closing(): void;
  /**
   * Removes its listeners, and closes the connection if it is its own, within so many ms. The driver reports nothing
   * afterwards.
   */
  close(within: number): Promise<void>;
}
