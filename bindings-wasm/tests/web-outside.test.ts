/** Express middleware around fencepost's: it may change the handler's response, and the time at which it is sent. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import { it } from "node:test";

import type { Request, RequestHandler, Response } from "express";
import { claimOf } from "fencepost/web/express";

import { eachExpress, replayed } from "./support/express.js";
import { eventually, within } from "./support/servers.js";
import { Moment, ORDER, received } from "./support/web.js";

const compression = createRequire(import.meta.url)("compression") as (options?: object) => RequestHandler;

const LIMIT = 90_000;
const GZIP = { "Accept-Encoding": "gzip" };
const LONG = "z".repeat(3000);

eachExpress("middleware outside", (servers) => {
  for (const [what, body, isStored, answer] of [
    ["a response as a whole", LONG, true, (response) => void response.send(LONG)],
    [
      "pieces of a known length",
      LONG,
      true,
      (response) => {
        response.set("Content-Length", "3000").write(LONG.slice(0, 1000));
        response.write(LONG.slice(0, 1000));
        response.end(LONG.slice(0, 1000));
      },
    ],
    [
      "pieces",
      LONG,
      false,
      (response) => {
        response.write(LONG.slice(0, 1500));
        setImmediate(() => response.end(LONG.slice(0, 1500)));
      },
    ],
    ["what is too large to store", LONG.repeat(200), false, (response) => void response.send(LONG.repeat(200))],
    [
      "a head that is flushed",
      LONG,
      false,
      (response) => {
        response.flushHeaders();
        setImmediate(() => response.end(LONG));
      },
    ],
  ] satisfies [string, string, boolean, (response: Response) => void][]) {
    it(`compresses ${what}`, async () => {
      const { order } = await servers.serving(
        (_request, response) => {
          answer(response.type("text"));
        },
        { before: [compression()] },
      );
      const first = await order.post(ORDER, GZIP);
      assert.deepEqual([first.headers["content-encoding"], first.text === body], ["gzip", true]);
      const retry = await order.post(ORDER, GZIP);
      const encoding = isStored ? "gzip" : undefined;
      assert.deepEqual([retry.headers["content-encoding"], retry.text], [encoding, isStored ? body : ""]);
      assert.ok(replayed(retry));
      // The stored response is that of the handler, so another client gets it as it is.
      const plain = await order.post(ORDER, { "Accept-Encoding": "identity" });
      assert.deepEqual([plain.headers["content-encoding"], plain.text], [undefined, isStored ? body : ""]);
    });
  }

  it("compresses the response of another attempt, and announces its end", async () => {
    const { order } = await servers.serving(
      async (request, response) => {
        const claim = claimOf(request);
        const seen = await servers.payments.look(claim?.key ?? "");
        assert.ok(claim !== null && seen !== null);
        await servers.payments.settle(claim.key, seen, `200\n\n${LONG}`, { tag: "http-response:1" });
        response.type("text").send("mine");
      },
      { before: [compression({ threshold: 0, filter: () => true })] },
    );
    const { text, headers } = await order.post(ORDER, GZIP);
    assert.deepEqual([text, replayed({ headers }), headers["content-encoding"]], [LONG, true, "gzip"]);
    assert.equal(headers["transfer-encoding"], "chunked");
  });

  it("leaves what is below the threshold as it is", async () => {
    const { order } = await servers.serving((_request, response) => void response.type("text").end("short"), {
      before: [compression()],
    });
    for (const isReplay of [false, true]) {
      const { headers, text } = await order.post(ORDER, GZIP);
      assert.deepEqual([headers["content-encoding"], text, replayed({ headers })], [undefined, "short", isReplay]);
    }
  });

  it("sees in its own end what Node.js would say, and the handler what it has done", async () => {
    const seen: Record<string, unknown> = {};
    /** Like middleware that saves a session before it sends the end. */
    const late: RequestHandler = (_request, response, next) => {
      const end = response.end.bind(response);
      Object.assign(response, {
        end(...last: Parameters<typeof end>) {
          seen["outside"] = [response.headersSent, response.writableEnded];
          setImmediate(() => {
            seen["later"] = [response.headersSent, response.writableEnded];
            response.setHeader("X-Saved", "yes");
            end(...last);
          });
          return response;
        },
      });
      next();
    };
    const { order } = await servers.serving(
      (_request, response) => {
        response.end("done");
        seen["handler"] = [response.headersSent, response.writableEnded];
      },
      { before: [late] },
    );
    const { text, headers } = await order.post();
    assert.deepEqual([text, headers["x-saved"]], ["done", "yes"]);
    assert.deepEqual(seen, { handler: [true, true], outside: [false, false], later: [false, false] });
  });

  for (const when of ["before it begins", "in the middle"]) {
    it(`takes a compressed pipe to its end whose client hangs up ${when}`, async () => {
      const [entered, goOn] = [new Moment<Request>(), new Moment()];
      // Random bytes, which compression does not make shorter.
      const chunk = crypto.getRandomValues(new Uint8Array(65_536));
      const body = Readable.from(new Array(300).fill(Buffer.from(chunk)));
      const { order, middleware } = await servers.serving(
        async (request, response) => {
          response.type("text");
          entered.happen(request);
          if (when === "before it begins") {
            await goOn.come;
          }
          body.pipe(response);
        },
        { before: [compression()], options: { wait: LIMIT } },
      );
      const socket = order.open(ORDER, GZIP);
      const { socket: other } = await entered.come;
      if (when === "in the middle") {
        await received(socket, /200 OK/);
        socket.pause();
        await eventually(LIMIT, "the pause", () => Promise.resolve(other.writableNeedDrain && body.isPaused()));
      }
      const closed = new Promise((resolve) => other.on("close", resolve));
      socket.destroy();
      await within(LIMIT, "the end of the connection", closed);
      goOn.happen();
      assert.equal(await middleware.idle(LIMIT), true);
      const retry = await order.post();
      assert.deepEqual([retry.status, retry.text, replayed(retry)], [200, "", true]);
    });
  }
});
