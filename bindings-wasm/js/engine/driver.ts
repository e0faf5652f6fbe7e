/**
 * What a driver and the client's engine are to each other. The contract is docs/reference/drivers.md.
 *
 * @module
 */

import type { Module } from "../hub/families/module.js";
import type { Family, Hub } from "../hub/hub.js";
import type { Command } from "../hub/outputs.js";

/** Where a driver puts what it hears. */
export interface Sink {
  /**
   * Puts something into the hub at the present time, then takes out and carries out everything there is to do. `id`: the command whose answer it is, so that an
   * answer that does not fit is the cause of what comes of it.
   */
  put(input: (hub: Hub, now: number) => void, id?: number): void;
  /** Remembers the client library's own error for a command, as the cause of what comes of it. */
  blame(id: number, error: unknown): void;
  /**
   * A mistake in a program: every call ends with it, and nothing is asked any more. `id`: the command that has met it; without one the hub has missed
   * something that it had to know, and grants are lost too.
   */
  broken(error: unknown, id?: number): void;
  /** The server has been reached: from now on an acquire without a timeout waits for as long as it takes. */
  reached(): void;
  /** Why there is no connection at the moment. */
  trouble(error: unknown): void;
}

/** Where `memory:` is. */
export const MEMORY = "memory:";

/** Carries out commands with one client library. */
export interface Driver {
  readonly family: Family;
  /** @internal Where the machines of its family are. */
  readonly module: Module;
  /** Where the server is, for error texts: without a user and a password. */
  readonly at: string;
  /** The hub that it drives. Called once, before everything else. */
  hub(now: number, seed: number): Hub;
  /** Begins: connects if the connection is its own, listens, tells of the session. */
  start(sink: Sink): void;
  /** Hands one command to the library, in the order of the calls. */
  send(command: Command): void;
  /** Everything polled has been sent. */
  flush(): void;
  /** Nobody asks this machine anything any more: what it watches is of no use. */
  forget(key: number): void;
  /** The client begins to close: the driver gives up what it has not sent, and waits for answers less long. */
  closing(): void;
  /** Removes its listeners, and closes the connection if it is its own, in so many ms at most. Nothing is put into the sink after it. */
  close(within: number): Promise<void>;
}
