/**
 * The reason why a client of node-zookeeper-client has no session. The library does not report it.
 *
 * @module
 */

import type { Manager } from "./library.js";

export class Reasons {
  readonly #own: boolean;
  /** Whether a server has accepted the present connection. */
  #accepted = false;

  /** `own`: whether the driver has made the client, and sees its sockets. */
  constructor(own: boolean) {
    this.#own = own;
  }

  /** The reason that is known at the moment. */
  get present(): Error {
    const silent = "the server has accepted a connection and not answered: is it a ZooKeeper?";
    const own = this.#accepted ? silent : "no connection has been established";
    return new Error(this.#own ? own : "the given client has no session, and its library does not report the reason");
  }

  /** Watches one connection. `ended` is called at its end, with the reason. */
  watch(socket: Manager["socket"], ended: (reason: Error) => void): void {
    let error: Error | null = null;
    this.#accepted = false;
    socket?.on("connect", () => {
      this.#accepted = true;
    });
    socket?.on("error", (why: Error) => {
      error = why;
    });
    socket?.on("close", () => ended(error ?? this.present));
  }
}
