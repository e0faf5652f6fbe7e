/**
 * One client of node-zookeeper-client, for the time of its session. It works around the library's defects: a comment
 * describes each of them.
 *
 * @module
 */

import { now } from "../../clock.js";
import { later } from "../../engine/timers.js";
import { type Timer, afterInput, clearInterval, clearTimeout, setInterval } from "../../host.js";
import { handshakeTimeout } from "../../hub/families/zookeeper.js";
import type { Failure } from "../../hub/hub.js";
import type { NodeCommand } from "../../hub/outputs.js";
import { isError } from "../../realms.js";
import type { Acl } from "../acl.js";
import { onEvent } from "../events.js";
import { guard } from "./input.js";
import { type Callback, type Manager, type Packet, type Response, STATE, type ZkClient } from "./library.js";
import { Reasons } from "./reasons.js";
import { Request, WATCH, isForServer } from "./requests.js";
import { Watches } from "./watches.js";

/** The outcome of a request: the reply, the server's error, or a failure. */
export type Result =
  | { readonly response: Response }
  | { readonly code: number; readonly error?: unknown }
  | { readonly failure: Failure; readonly error?: unknown };

/** The listener of a session. */
export interface Listener {
  /** Whether a contender uses this machine. */
  serves(key: number): boolean;
  answered(command: NodeCommand, session: bigint, result: Result): void;
  /** A programming error while the driver handled the reply to that command, or another callback of the library. */
  broken(error: unknown, command?: NodeCommand): void;
  /** Why there is no connection. */
  trouble(error: Error): void;
  fired(ids: readonly number[], session: bigint, event: "deleted" | "changed"): void;
  /** The client is about to connect for a new session. */
  connecting(): void;
  connected(session: bigint, timeout: number): void;
  suspended(session: bigint): void;
  /** The session has ended, and no report follows. */
  ended(session: bigint, how: "expired" | "auth-failed" | "closed"): void;
}

/** The longest pause between rounds over all servers, in ms. */
const SPIN = 200;

/**
 * After this part of the session timeout without input, the driver ends the connection. The library sends a ping after
 * each third of it.
 */
const SILENCE = 2 / 3;

/** How long a client that the driver made may take to close its session, in ms. */
const CLOSE_WITHIN = 1000;

export class Session {
  readonly #client: ZkClient;
  readonly #manager: Manager;
  readonly #own: boolean;
  readonly #reasons: Reasons;
  readonly #acl: readonly Acl[];
  readonly #listener: Listener;
  readonly #onState = (state: unknown) => {
    this.#safely(() => this.#changed(state as number));
  };
  /** Removes the listener for the client's states. */
  readonly #unwatch: () => void;
  /** The requests in flight, with the session in which they were sent. */
  readonly #sent = new Map<Request, bigint>();
  readonly #watches: Watches;
  readonly #seen = (request: Request) => {
    this.#current = request;
  };
  /** Removes the interception of the socket's input. */
  readonly #unguard: () => void;
  #current: Request | null = null;
  #id = 0n;
  #up = false;
  /** Whether the last report to the listener was that the session is connected. */
  #reported = false;
  #over = false;
  #lastReceived = 0;
  #corked: Manager["socket"] | null = null;
  /** How many handshakes in a row have failed. */
  #failures = 0;
  #watchdog: Timer | undefined;

  constructor(client: ZkClient, own: boolean, acl: readonly Acl[], listener: Listener) {
    this.#client = client;
    this.#manager = client.connectionManager;
    this.#watches = new Watches(client.connectionManager);
    this.#own = own;
    this.#reasons = new Reasons(own);
    this.#acl = acl;
    this.#listener = listener;
    const received = () => {
      this.#lastReceived = now();
    };
    this.#unguard = guard(this.#manager, { received, unreadable: (error) => this.#unreadable(error) });
    this.#unwatch = onEvent(this.#manager, "state", this.#onState);
    if (own) {
      this.#tame();
      client.connect();
    } else if (this.#manager.state === STATE.connected || this.#isUnasked()) {
      this.#onState(this.#manager.state);
    }
  }

  /** Why there is no session yet. */
  get trouble(): Error | undefined {
    return this.#up ? undefined : this.#reasons.present;
  }

  send(command: NodeCommand): void {
    if (!isForServer(command)) {
      this.#leave();
      return;
    }
    const request = new Request(command, this.#acl, this.#seen);
    if (!this.#up) {
      const failure = this.#over || this.#manager.state < STATE.disconnected ? "closed" : "not-sent";
      this.#listener.answered(command, this.#id, { failure });
      return;
    }
    // The requests of one turn go out in one packet.
    if (this.#corked === null && this.#manager.socket !== undefined) {
      this.#corked = this.#manager.socket;
      this.#corked.cork();
    }
    this.#sent.set(request, this.#id);
    this.#manager.queue(request, this.#answer(request));
  }

  flush(): void {
    this.#corked?.uncork();
    this.#corked = null;
  }

  /** A reply is overdue. A client that the driver made connects to the next server, in the same session. */
  #leave(): void {
    if (this.#own && this.#up) {
      this.#up = false;
      this.#manager.socket?.destroy();
    }
  }

  /**
   * Whether a connecting client has sent no request for a session yet. After that request, a session may have begun.
   */
  #isUnasked(): boolean {
    const { state, socket } = this.#manager;
    return state === STATE.connecting && (socket === undefined || socket.connecting || socket.destroyed);
  }

  /** Removes the driver's listeners. Closes the client within so many ms, if the driver made it. */
  async close(within = CLOSE_WITHIN): Promise<void> {
    this.#over = true;
    this.#up = false;
    clearInterval(this.#watchdog);
    this.flush();
    this.#unwatch();
    this.#watches.clear();
    if (this.#own) {
      await this.#end(Math.min(within, CLOSE_WITHIN));
    }
    this.#unguard();
  }

  /** No contender uses the machine `key` any more. */
  forget(key: number): void {
    this.#watches.forget(key);
  }

  #answer(request: Request): Callback {
    const answer = this.#heardOf(request);
    return (error, response) => {
      this.#safely(() => answer(error, response), request);
    };
  }

  #heardOf(request: Request): Callback {
    return (error, response) => {
      this.#current = null;
      if (error === null || error === undefined) {
        if (response !== undefined) {
          this.#settle(request, { response });
        }
      } else if (response !== undefined) {
        this.#settle(request, { code: error.code, error });
      } else {
        // The library reports the failures of requests in flight while its state is still connected. A request that was
        // sent now would fail in the same loop, for ever.
        this.#up = false;
        this.#settle(request, { failure: "unknown", error });
      }
    };
  }

  #settle(request: Request, result: Result): void {
    const session = this.#sent.get(request);
    if (session === undefined) {
      return;
    }
    this.#sent.delete(request);
    const { key, operation, flags } = request.command;
    const reads = operation === "get" || operation === "children";
    // The reply may come after the end of the contender.
    if ("response" in result && reads && (flags & WATCH) !== 0 && this.#listener.serves(key)) {
      this.#watches.add(request.command, operation, (ids, event) => {
        if (!this.#over) {
          this.#safely(() => this.#listener.fired(ids, session, event));
        }
      });
    }
    this.#listener.answered(request.command, session, result);
  }

  #changed(state: number): void {
    switch (state) {
      case STATE.connected:
        this.#up = this.#reported = true;
        this.#failures = 0;
        this.#lastReceived = now();
        this.#id = this.#manager.sessionId.readBigInt64BE();
        this.#listener.connected(this.#id, this.#manager.sessionTimeout);
        break;
      case STATE.connecting:
        if (this.#manager.sessionId.every((byte) => byte === 0)) {
          this.#listener.connecting();
        }
        break;
      case STATE.disconnected:
        this.#disconnected();
        break;
      case STATE.expired:
        this.#ended("expired");
        break;
      case STATE.authFailed:
        this.#ended("auth-failed");
        break;
      case STATE.closed:
        this.#ended("closed");
        break;
    }
  }

  #disconnected(): void {
    this.#up = false;
    this.#corked = null;
    // The library keeps an incomplete frame. It would put it before the first frame of the next connection, and would
    // then read the wrong bytes as an expired session.
    this.#manager.pendingBuffer = null;
    this.#settleAll();
    if (this.#reported) {
      this.#reported = false;
      this.#listener.suspended(this.#id);
    }
  }

  /**
   * Ends all requests. The library would send requests that it has not written after a reconnect, or would never call
   * back: this removes them. The outcome of the others is unknown.
   */
  #settleAll(): void {
    const queue = this.#manager.packetQueue.queue;
    const unsent = new Set<Packet>(
      [...this.#sent.keys()].filter((sent) => queue.some(({ request }) => request === sent)),
    );
    this.#manager.packetQueue.queue = queue.filter(({ request }) => !unsent.has(request));
    for (const request of [...this.#sent.keys()]) {
      this.#settle(request, { failure: unsent.has(request) ? "not-sent" : "unknown" });
    }
  }

  #ended(how: "expired" | "auth-failed" | "closed"): void {
    if (this.#over) {
      return;
    }
    this.#up = false;
    this.#settleAll();
    this.#over = true;
    this.#listener.ended(this.#id, how);
  }

  /**
   * The library throws on error codes that it does not know (-118, -121 … -127), from the socket's handler: the
   * exception is uncaught, and the library never calls back. The reply belongs to the last request whose number the
   * library read.
   */
  #unreadable(error: unknown): boolean {
    const found = /^Unknown code: (-?\d+)$/.exec(isError(error) ? error.message : "");
    const request = this.#current;
    this.#current = null;
    if (found === null || request === null || !this.#sent.has(request)) {
      return false;
    }
    this.#safely(() => this.#settle(request, { code: Number(found[1]), error }), request);
    return true;
  }

  /**
   * Runs a callback of the library. If the callback threw, the library would assume bad bytes from the server,
   * reconnect, and send the request again.
   */
  #safely(call: () => void, request?: Request): void {
    try {
      call();
    } catch (mistake) {
      this.#listener.broken(mistake, request?.command);
    }
  }

  /**
   * Changes a client that the driver made: it does not keep the process alive, retries soon, and notices a silent
   * server.
   */
  #tame(): void {
    const manager = this.#manager;
    manager.findNextServer = (callback) => {
      const pause = manager.serverAttempts >= manager.servers.length ? Math.random() * SPIN : 0;
      manager.serverAttempts = pause === 0 ? manager.serverAttempts + 1 : 1;
      later(pause, () => {
        if (this.#over) {
          return;
        }
        this.#lastReceived = now();
        callback(manager.servers[manager.nextServerIndex % manager.servers.length]);
        manager.nextServerIndex += 1;
        manager.socket?.unref();
        manager.connectTimeoutHandler?.unref();
        this.#reasons.watch(manager.socket, (reason) => {
          if (!this.#reported && !this.#over) {
            this.#listener.trouble(reason);
          }
        });
      });
    };
    const look = () => {
      // If the event loop was blocked, the input that has arrived is read first.
      afterInput(() => {
        if (!this.#over && this.#isSilent()) {
          this.#lastReceived = now();
          this.#failures += 1;
          manager.socket?.destroy();
        }
      });
    };
    const often = Math.max(20, Math.min(this.#silenceLimit() / 4, 1000));
    let last = now();
    this.#watchdog = setInterval(() => {
      // While the event loop was blocked, no ping was sent and nothing was read. That time does not count.
      const present = now();
      this.#lastReceived += Math.max(0, present - last - 2 * often);
      last = present;
      if (this.#isSilent()) {
        look();
      }
    }, often);
    this.#watchdog.unref();
  }

  #isSilent(): boolean {
    const { state } = this.#manager;
    return (
      (state === STATE.connecting || state === STATE.connected) && now() - this.#lastReceived > this.#silenceLimit()
    );
  }

  /** How long the server may be silent, in ms. */
  #silenceLimit(): number {
    const { state, sessionTimeout } = this.#manager;
    return state === STATE.connected ? sessionTimeout * SILENCE : handshakeTimeout(sessionTimeout, this.#failures);
  }

  /** Closes the session, so that the server deletes its nodes at once. Only a connected client can. */
  async #end(within: number): Promise<void> {
    const manager = this.#manager;
    if (manager.state === STATE.connected) {
      await new Promise<void>((resolve) => {
        const timer = later(within, resolve);
        manager.on("state", (state: number) => {
          if (state === STATE.closed) {
            clearTimeout(timer);
            resolve();
          }
        });
        this.#client.close();
      });
    }
    manager.connect = () => undefined;
    clearTimeout(manager.connectTimeoutHandler ?? undefined);
    manager.socket?.destroy();
  }
}
