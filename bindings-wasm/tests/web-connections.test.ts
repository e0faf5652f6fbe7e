/** Connections that end before their response, or that are used again after it. */

import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { it } from "node:test";

import type { Request, Response } from "express";
import { type Claim } from "fencepost";
import { claimOf } from "fencepost/web/express";

import { eachExpress, replayed } from "./support/express.js";
import { eventually, within } from "./support/servers.js";
import { Moment, ORDER, Order, received } from "./support/web.js";

const LIMIT = 90_000;

/** A source that fails in the middle. */
function broken(): Readable {
  let begun = false;
  return new Readable({
    read() {
      if (begun) {
        this.destroy(new Error("broken"));
      } else {
        begun = true;
        this.push("begun");
      }
    },
  });
}

eachExpress("connections", (servers) => {
  it("lets them read it when the client has hung up meanwhile", async () => {
    const [entered, left] = [new Moment(), new Moment()];
    const { order } = await servers.serving(
      (request, response) => {
        response.json(request.body);
      },
      {
        before: [
          (_request, response, next) => {
            response.on("close", left.happen);
            next();
          },
        ],
        between: [
          (request, _response, next) => {
            const { socket } = request;
            socket.on("close", () => setImmediate(next));
            entered.happen();
          },
          servers.make.json(),
        ],
        options: { wait: LIMIT },
      },
    );
    const socket = order.open();
    await entered.come;
    socket.destroy();
    // The handler is not notified, but the log of responses has it.
    await within(LIMIT, "the end of the response", left.come);
    const retry = await order.post();
    assert.deepEqual([retry.status, retry.text, replayed(retry)], [200, ORDER, true]);
  });

  it("completes a pipeline that has begun after the client has hung up", async () => {
    const entered = new Moment<Request>();
    const goOn = new Moment();
    const { order } = await servers.serving(
      async (request, response) => {
        entered.happen(request);
        await goOn.come;
        assert.equal(response.destroyed, false);
        await pipeline(Readable.from([Buffer.from("abc"), Buffer.from("def")]), response.set("Content-Length", "6"));
      },
      { options: { wait: LIMIT } },
    );
    const socket = order.open();
    const { socket: other } = await entered.come;
    socket.destroy();
    await once(other, "close");
    goOn.happen();
    const retry = await order.post();
    assert.deepEqual([retry.text, replayed(retry)], ["abcdef", true]);
  });

  it("takes a long stream to its end when the client has hung up in the middle", async () => {
    const [entered, goOn] = [new Moment<Request>(), new Moment()];
    const { order } = await servers.serving(
      async (request, response) => {
        entered.happen(request);
        response.write("begun");
        await goOn.come;
        await pipeline(Readable.from(new Array(100).fill(Buffer.alloc(65_536))), response);
      },
      { options: { wait: LIMIT } },
    );
    const socket = order.open();
    const { socket: other } = await entered.come;
    await received(socket, /begun/);
    socket.destroy();
    await once(other, "close");
    goOn.happen();
    const retry = await order.post();
    assert.deepEqual([retry.text, replayed(retry)], ["", true]);
  });

  it("leaves the claim of a response that the server destroys", async () => {
    // The list refers to the claims, so that the garbage collector does not find them.
    const claims: (Claim | null)[] = [];
    const { order } = await servers.serving((request, response) => {
      claims.push(claimOf(request));
      if (claims.length === 1) {
        response.set("Content-Length", "6").write("abc");
        // Express destroys the connection, because the head is fixed.
        throw new Error("in the middle");
      }
      response.end();
    });
    await assert.rejects(order.post());
    await eventually(LIMIT, "the end of the claim", async () => (await order.post()).status === 200);
    assert.equal(claims[1]?.takeovers, 1);
  });

  for (const [what, fail] of [
    ["whose pipeline fails", (_request, response) => void pipeline(broken(), response).catch(() => undefined)],
    ["that the handler destroys with an error", (_request, response) => void response.destroy(new Error("broken"))],
    ["whose request the handler destroys with an error", (request) => void request.destroy(new Error("broken"))],
  ] as const satisfies [string, (request: Request, response: Response) => void][]) {
    it(`leaves the claim of a response ${what}`, async () => {
      // The list refers to the claims, so that the garbage collector does not find them.
      const claims: (Claim | null)[] = [];
      const { order, middleware } = await servers.serving((request, response) => {
        if (claims.push(claimOf(request)) > 1) {
          response.end();
        } else {
          fail(request, response);
        }
      });
      await assert.rejects(order.post());
      assert.equal(await middleware.idle(LIMIT), true);
      assert.equal((await order.post()).status, 200);
      assert.equal(claims[1]?.takeovers, 1);
    });
  }

  it("survives a pipeline that takes the socket from a request which was not read", async () => {
    let runs = 0;
    const { order } = await servers.serving((request, response) => {
      runs += 1;
      const full = new PassThrough().destroy();
      return pipeline(request, full).catch(() => response.status(422).end("the disk is full"));
    });
    for (const isReplay of [false, true]) {
      const answer = await order.post();
      assert.deepEqual([answer.status, answer.text, replayed(answer)], [422, "the disk is full", isReplay]);
    }
    assert.equal(runs, 1);
  });

  it("leaves the claim of a pipeline that fails after the client has hung up", async () => {
    const [entered, goOn] = [new Moment<Request>(), new Moment()];
    const claims: (Claim | null)[] = [];
    const { order, middleware } = await servers.serving(async (request, response) => {
      if (claims.push(claimOf(request)) > 1) {
        response.end();
        return;
      }
      entered.happen(request);
      await goOn.come;
      await pipeline(broken(), response).catch(() => undefined);
    });
    const socket = order.open();
    const { socket: other } = await entered.come;
    socket.destroy();
    await once(other, "close");
    goOn.happen();
    assert.equal(await middleware.idle(LIMIT), true);
    assert.equal((await order.post()).status, 200);
    assert.equal(claims[1]?.takeovers, 1);
  });

  it("leaves the claim of a handler that never answers, once no code refers to it", { timeout: 60_000 }, async () => {
    const entered = new Moment();
    let runs = 0;
    const { order } = await servers.serving((_request, response) => {
      runs += 1;
      if (runs > 1) {
        response.end();
      }
      entered.happen();
    });
    const socket = order.open();
    await entered.come;
    socket.destroy();
    await eventually(LIMIT, "the end of the claim", async () => {
      (globalThis as { gc?: () => void }).gc?.();
      return (await order.post()).status === 200;
    });
    assert.equal(runs, 2);
  });

  it("keeps the connection for the next request", async () => {
    const { order } = await servers.serving((_request, response) => void response.end("done"), {
      options: { maxBody: 20 },
    });
    const socket = order.open("x".repeat(10));
    await received(socket, / 200 OK[^]*done$/);
    socket.write(order.bytes("x".repeat(21)));
    await received(socket, / 413 [^]*body-too-large[^]*}$/);
    // More than the connection buffers before the server reads it.
    socket.write(order.chunked("x".repeat(10_000_000)));
    await received(socket, / 413 [^]*body-too-large[^]*}$/);
    socket.write(order.bytes("x".repeat(10)));
    await received(socket, / 200 OK[^]*idempotent-replayed[^]*done$/i);
    socket.destroy();
  });

  it("ends a request whose body no code reads", async () => {
    let closes = 0;
    const { order } = await servers.serving((_request, response) => void response.end("done"), {
      before: [
        (request, _response, next) => {
          request.on("close", () => (closes += 1));
          next();
        },
      ],
    });
    const body = "x".repeat(500_000);
    const socket = order.open(body);
    await received(socket, /done$/);
    await eventually(LIMIT, "the end of the request", () => closes === 1);
    // A replay does not run the handler.
    socket.write(order.bytes(body));
    await received(socket, /idempotent-replayed[^]*done$/i);
    await eventually(LIMIT, "the end of the retry", () => closes === 2);
    socket.destroy();
  });

  it("lets a handler read the body after its response", async () => {
    const read = new Moment<number>();
    const { order } = await servers.serving(async (request, response) => {
      request.pause();
      response.end("done");
      await once(response, "finish");
      let size = 0;
      for await (const chunk of request) {
        size += (chunk as Buffer).length;
      }
      read.happen(size);
    });
    const socket = order.open("x".repeat(500_000));
    assert.equal(await within(LIMIT, "the body", read.come), 500_000);
    socket.destroy();
  });

  it("leaves nothing on a connection whose requests have come together", async () => {
    // By key: the claims may be granted in another order than that of the requests.
    const responses = new Map<unknown, Response>();
    const both = new Moment<Socket>();
    /** The server's own `on` of the connection. */
    const ownOf = (connection: Socket): unknown => Object.getOwnPropertyDescriptor(connection, "on")?.value;
    let own: unknown;
    const { order } = await servers.serving(
      ({ socket, headers }, response) => {
        if (responses.set(headers["idempotency-key"], response).size === 2) {
          both.happen(socket);
        }
      },
      {
        before: [
          ({ socket }, _response, next) => {
            own ??= ownOf(socket);
            next();
          },
        ],
      },
    );
    const socket = order.open();
    const second = new Order(0);
    socket.write(second.bytes());
    const other = await both.come;
    assert.notEqual(ownOf(other), own);
    responses.get(order.key)?.end("first");
    await received(socket, /first/);
    responses.get(second.key)?.end("second");
    await received(socket, /second/);
    // The client may have the response before the server knows that it was sent.
    await eventually(LIMIT, "the end of listening", () => ownOf(other) === own);
    socket.destroy();
  });

  it("can be waited for", async () => {
    const [entered, goOn] = [new Moment<Request>(), new Moment()];
    const { order, middleware } = await servers.serving(async (request, response) => {
      entered.happen(request);
      await goOn.come;
      response.end();
    });
    assert.equal(await middleware.idle(), true);
    const socket = order.open();
    const { socket: other } = await entered.come;
    socket.destroy();
    await once(other, "close");
    assert.equal(await middleware.idle(1), false);
    const idle = middleware.idle(LIMIT);
    goOn.happen();
    assert.equal(await idle, true);
    assert.ok(replayed(await order.post()));
  });
});
