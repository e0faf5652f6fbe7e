/** Servers of both versions of Express, with the middleware. */

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { after, afterEach, before, beforeEach, describe } from "node:test";

import express, { type Express, type Request, type RequestHandler, type Response } from "express";
import { type Client, type Idempotency, connect } from "fencepost";
import { type WebOptions, idempotent } from "fencepost/web/express";

import { fresh } from "./backends.js";
import { address } from "./servers.js";
import { Order, SECRET, portOf } from "./web.js";

const express4 = createRequire(import.meta.url)("express-4") as typeof express;

/** The tenant of all requests. */
export const tenant = () => "shop-7";

/** Whether a response comes from the record. */
export const replayed = ({ headers }: { headers: object }) => "idempotent-replayed" in headers;

/** The handler of a server. */
type Handler = (request: Request, response: Response) => unknown;

interface Parts {
  readonly options?: Partial<WebOptions<Request>>;
  readonly before?: readonly RequestHandler[];
  readonly between?: readonly RequestHandler[];
}

/** The environment of a test: its own operations, and servers that end with it. */
export class Servers {
  readonly make: typeof express;
  client!: Client;
  payments!: Idempotency;
  readonly #closing: (() => void)[] = [];

  constructor(make: typeof express) {
    this.make = make;
  }

  /** Starts a server; returns its port. */
  async listen(app: Express): Promise<number> {
    const server = createServer(app);
    server.listen(0, "127.0.0.1");
    this.#closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return portOf(server);
  }

  /** A server with one handler. Its errors are not shown. */
  async serving(handler: Handler, { options = {}, before = [], between = [] }: Parts = {}) {
    const app = this.make().set("env", "test");
    const middleware = idempotent<Request>(this.payments, { scope: tenant, secret: SECRET, ...options });
    for (const one of [...before, middleware, ...between]) {
      app.use(one);
    }
    app.use((request, response, next) => {
      Promise.resolve(handler(request, response)).catch(next);
    });
    const port = await this.listen(app);
    return { order: new Order(port), middleware, port };
  }

  /** Ends all servers. */
  close(): void {
    for (const close of this.#closing.splice(0)) {
      close();
    }
  }
}

/** The same tests for both versions of Express. */
export function eachExpress(what: string, tests: (servers: Servers) => void): void {
  for (const [version, make] of Object.entries({ "Express 5": express, "Express 4": express4 })) {
    describe(`${version}: ${what}`, { concurrency: false }, () => {
      const servers = new Servers(make);
      before(async () => {
        servers.client = await connect(`redis://${address("FENCEPOST_REDIS")}`);
      });
      beforeEach(() => {
        servers.payments = servers.client.idempotency(fresh());
      });
      afterEach(() => {
        servers.close();
      });
      after(() => servers.client.close());
      tests(servers);
    });
  }
}
