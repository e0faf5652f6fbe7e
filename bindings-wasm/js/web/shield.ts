/**
 * Hides from a handler on Node.js that its client has hung up.
 *
 * @module
 */

import type { Listener, NodeRequest, NodeResponse, NodeSocket } from "./node.js";

/** The name of the listeners of `on-finished`, which are those of `ee-first`. */
const ON_FINISHED = "onevent";

/**
 * The state that the shields of one socket share: a client may send several requests at once, and they end in any
 * order.
 */
interface Listening {
  readonly shields: Set<Shield>;
  /** The socket's own method `on`. The server of Node.js has put it there. */
  readonly before: PropertyDescriptor | undefined;
}

const listening = new WeakMap<NodeSocket, Listening>();

/**
 * Hides from the handler that the client has hung up, until the handler has responded. So the handler runs to its end,
 * reads the rest of the request, and its response is stored.
 */
export class Shield {
  readonly #request: NodeRequest;
  /** The request's socket. A pipeline that fails removes it from the request. */
  readonly #socket: NodeSocket;
  readonly #response: NodeResponse;
  #later: (() => void)[] = [];
  /** The handler's listeners for `drain`. */
  readonly #drains = new Set<Listener>();
  /** The functions that restore the sockets. */
  #restores: (() => void)[] = [];
  #isUp = true;
  #isGone = false;
  /** Whether the program itself has ended the connection, before the client hung up. */
  #isGivenUp = false;

  /** `aborted` is called when the server itself destroys the response. */
  constructor(request: NodeRequest, response: NodeResponse, aborted: () => void) {
    this.#request = request;
    this.#socket = request.socket;
    this.#response = response;
    this.#deferListeners(request.socket);
    this.#rememberDrains();
    const destroy = request.destroy.bind(request);
    const destroyResponse = response.destroy.bind(response);
    const emit = response.emit.bind(response);
    // A pipeline whose source fails destroys the response: the handler has ended without a response.
    response.destroy = (error) => {
      if (this.#isUp && this.#hasHungUp()) {
        aborted();
        this.lift();
      }
      this.#isGivenUp = true;
      return destroyResponse(error);
    };
    // Node.js destroys a request whose client has hung up, and the unread part of its body is lost.
    request.destroy = (error) => {
      if (!this.#isUp || !this.#hasHungUp()) {
        const { destroyed } = this.#socket;
        const result = destroy(error);
        this.#isGivenUp ||= destroyed !== this.#socket.destroyed;
        return result;
      }
      // Body parsers do not read if the socket is not readable.
      this.#replaceSocket(request, { readable: { value: true } });
      this.#later.push(() => {
        destroy(error);
      });
      return request;
    };
    response.emit = (event, ...parameters) => {
      // HTTP/2 emits both when a client cancels its request.
      if (!this.#isUp || (event !== "close" && event !== "finish")) {
        return emit(event, ...parameters);
      }
      if (this.#hasHungUp()) {
        this.#later.push(() => emit(event, ...parameters));
        if (event === "close") {
          this.#reopen();
          this.#drain(emit);
        }
        return false;
      }
      if (event === "close") {
        aborted();
      }
      return emit(event, ...parameters);
    };
  }

  /**
   * Middleware that writes to its own stream, such as `compression`, adds these listeners to that stream. They would
   * wait there for ever.
   */
  #rememberDrains(): void {
    const response = this.#response;
    const on = response.on.bind(response);
    response.on = (event, listener) => {
      if (event === "drain") {
        this.#drains.add(listener);
      }
      return on(event, listener);
    };
    for (const name of ["removeListener", "off"] as const) {
      const remove = response[name].bind(response);
      response[name] = (event, listener) => {
        if (event === "drain") {
          this.#drains.delete(listener);
        }
        return remove(event, listener);
      };
    }
  }

  /** Emits `drain`, because a pipe may wait until the client reads more. */
  #drain(emit: (event: string) => unknown): void {
    const response = this.#response;
    const own = response.rawListeners("drain");
    const elsewhere = [...this.#drains].filter((listener) => !own.includes(listener));
    emit("drain");
    for (const listener of elsewhere) {
      listener.call(response);
    }
  }

  /**
   * Makes the response look open: `stream.pipeline` does not write to a closed one, and `on-finished` checks the
   * socket.
   */
  #reopen(): void {
    const response = this.#response;
    const { destroyed, socket } = response;
    response.destroyed = false;
    const no = { value: false, configurable: true };
    Object.defineProperties(response, { closed: no, writableNeedDrain: no });
    this.#later.unshift(() => {
      response.destroyed = destroyed;
      Reflect.deleteProperty(response, "closed");
      Reflect.deleteProperty(response, "writableNeedDrain");
    });
    if (socket && this.#request.stream === undefined) {
      this.#replaceSocket(response, { writable: { value: true } });
    }
  }

  /**
   * `on-finished` treats the end of the socket as the end of the response, and `sendFile` stops then. This calls the
   * listeners of `on-finished` only when the shield is lifted. The program's listeners are called at once.
   */
  #deferListeners(socket: NodeSocket): void {
    if (this.#request.stream !== undefined) {
      return;
    }
    let shared = listening.get(socket);
    if (shared === undefined) {
      shared = { shields: new Set(), before: Object.getOwnPropertyDescriptor(socket, "on") };
      listening.set(socket, shared);
      this.#replaceOn(socket, shared.shields);
    }
    const { shields, before } = shared;
    shields.add(this);
    this.#restores.push(() => {
      if (!shields.delete(this) || shields.size > 0) {
        return;
      }
      listening.delete(socket);
      if (before === undefined) {
        Reflect.deleteProperty(socket, "on");
      } else {
        Object.defineProperty(socket, "on", before);
      }
    });
  }

  /** The listeners of `on-finished` wait for all of these shields. */
  #replaceOn(socket: NodeSocket, shields: ReadonlySet<Shield>): void {
    const on = socket.on.bind(socket);
    socket.on = (event, listener) => {
      if ((event !== "close" && event !== "error") || listener.name !== ON_FINISHED) {
        return on(event, listener);
      }
      const deferred: Listener = (...parameters) => {
        for (const shield of shields) {
          if (shield.#isUp && shield.#hasHungUp()) {
            shield.#later.push(() => {
              deferred(...parameters);
            });
            return;
          }
        }
        listener.apply(socket, parameters);
      };
      // `removeListener` finds the listener by this property.
      return on(
        event,
        Object.assign(deferred, { listener: (listener as { listener?: unknown }).listener ?? listener }),
      );
    };
  }

  /** Gives a request or a response a socket that differs from its own in some members. */
  #replaceSocket(message: NodeRequest | NodeResponse, members: PropertyDescriptorMap): void {
    const { socket } = message;
    const set = (value: unknown) =>
      Object.defineProperty(message, "socket", { value, configurable: true, enumerable: true, writable: true });
    set(Object.create(socket ?? null, members));
    this.#restores.push(() => set(socket));
  }

  /**
   * The handler has responded, but the response is not sent yet. An error handler of the framework may destroy the
   * connection now, because it assumes that the response was sent.
   */
  delayDestroy(): void {
    if (this.#request.stream === undefined) {
      const socket = this.#socket;
      const destroy = (error?: Error) => {
        this.#later.push(() => socket.destroy(error));
        return socket;
      };
      this.#replaceSocket(this.#request, { destroy: { value: destroy } });
    }
  }

  /** The response is sent now. */
  restoreSockets(): void {
    for (const restore of this.#restores.splice(0).reverse()) {
      restore();
    }
  }

  /** Whether the client hung up before the handler responded. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** The handler has responded. */
  lift(): void {
    this.#isUp = false;
    this.restoreSockets();
    const later = this.#later;
    this.#later = [];
    for (const call of later) {
      call();
    }
  }

  #hasHungUp(): boolean {
    const [{ stream }, socket] = [this.#request, this.#socket];
    if (this.#isGivenUp) {
      // The error of the connection is from the program itself.
      return this.#isGone;
    }
    if (stream !== undefined) {
      this.#isGone ||= (stream.rstCode ?? 0) !== 0;
    } else {
      this.#isGone ||= socket.readableEnded || (socket.errored !== null && socket.errored !== undefined);
    }
    return this.#isGone;
  }
}
