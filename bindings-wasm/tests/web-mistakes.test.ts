/** Handlers with mistakes, and clients that hang up: the middleware must not make it worse. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, it } from "node:test";

import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import { claimOf, idempotent } from "fencepost/web/express";

import { eachExpress, replayed, tenant } from "./support/express.js";
import { Moment, Order, SECRET, received } from "./support/web.js";

const LIMIT = 90_000;
const folder = mkdtempSync(join(tmpdir(), "fencepost-"));
/** More than a connection buffers before its client reads. */
const LONG = join(folder, "long");
const SHORT = join(folder, "short");
writeFileSync(LONG, Buffer.alloc(30e6));
writeFileSync(SHORT, "0123456789");
after(() => {
  rmSync(folder, { recursive: true });
});

eachExpress("mistakes", (servers) => {
  const pieces = () => Readable.from(new Array(500).fill(Buffer.alloc(65_536)));

  for (const [what, send] of Object.entries<(response: Response) => void>({
    "a pipe": (response) => void pieces().pipe(response),
    "a long file": (response) => {
      response.sendFile(LONG);
    },
  })) {
    it(`takes ${what} to its end when the client stops reading, and hangs up`, async () => {
      const begun = new Moment<Request>();
      const { order, middleware } = await servers.serving(
        (request, response) => {
          send(response);
          begun.happen(request);
        },
        { options: { wait: LIMIT } },
      );
      const socket = order.open();
      const { socket: other } = await begun.come;
      await received(socket, /200 OK/);
      socket.pause();
      const closed = new Promise((resolve) => other.on("close", resolve));
      socket.destroy();
      await closed;
      assert.equal(await middleware.idle(LIMIT), true);
      const retry = await order.post();
      assert.deepEqual([retry.status, retry.text, replayed(retry)], [200, "", true]);
    });
  }

  it("stores a file whose client has hung up before it is sent", async () => {
    const [entered, goOn] = [new Moment<Request>(), new Moment()];
    const { order } = await servers.serving(
      async (request, response) => {
        entered.happen(request);
        await goOn.come;
        response.sendFile(SHORT);
      },
      { options: { wait: LIMIT } },
    );
    const socket = order.open();
    const { socket: other } = await entered.come;
    const closed = new Promise((resolve) => other.on("close", resolve));
    socket.destroy();
    await closed;
    goOn.happen();
    const retry = await order.post();
    assert.deepEqual([retry.text, replayed(retry)], ["0123456789", true]);
  });

  /** A server whose error handler responds to every error, even after a response, as many do. */
  async function failing(handler: (request: Request, response: Response) => void): Promise<Order> {
    const app = servers.make().set("env", "test");
    app.use(idempotent<Request>(servers.payments, { scope: tenant, secret: SECRET }));
    app.post("/", handler);
    const answer: ErrorRequestHandler = (error, _request, response, next) => {
      if (error === undefined) {
        next();
      }
      response.status(500).json({ error: "internal" });
    };
    app.use(answer);
    return new Order(await servers.listen(app));
  }

  for (const [what, change] of Object.entries<(response: Response) => void>({
    "an error": () => {
      throw new Error("after the response");
    },
    "a second response": (response) => void response.status(400).json({ error: "a second one" }),
    "another status": (response) => {
      response.statusCode = 500;
      response.statusMessage = "Broken";
    },
  })) {
    it(`sends the response that it stores, with ${what} after it`, async () => {
      const order = await failing((_request, response) => {
        response.status(201).json({ paid: true });
        change(response);
      });
      for (const isReplay of [false, true]) {
        const answer = await order.post();
        assert.deepEqual([answer.status, answer.text, replayed(answer)], [201, '{"paid":true}', isReplay]);
      }
    });
  }

  it("refuses headers after the response, as Node.js does", async () => {
    const codes: unknown[] = [];
    const order = await failing((_request, response) => {
      response.end("done");
      for (const change of [
        () => response.setHeader("x-late", "1"),
        () => response.appendHeader("x-late", "1"),
        () => {
          response.removeHeader("x-powered-by");
        },
        () => response.writeHead(500),
      ]) {
        try {
          change();
        } catch (error) {
          codes.push((error as { code?: unknown }).code);
        }
      }
    });
    const { status, headers } = await order.post();
    assert.deepEqual([status, "x-late" in headers, "x-powered-by" in headers], [200, false, true]);
    assert.deepEqual(codes, new Array(4).fill("ERR_HTTP_HEADERS_SENT"));
  });

  for (const end of ["end", "write"] as const) {
    it(`answers after a chunk that ${end} refuses`, async () => {
      const order = await failing((_request, response) => {
        response.set("Content-Length", "2");
        response[end](42);
      });
      const answer = await order.post();
      assert.deepEqual([answer.status, answer.text], [500, '{"error":"internal"}']);
    });
  }

  for (const [what, code, send] of [
    [
      "a status",
      "ERR_HTTP_INVALID_STATUS_CODE",
      (response) => {
        response.statusCode = 1000;
        response.end("x");
      },
    ],
    ["a status of writeHead", "ERR_HTTP_INVALID_STATUS_CODE", (response) => void response.writeHead(99)],
    ["a text of the status in writeHead", "ERR_INVALID_CHAR", (response) => void response.writeHead(200, "a\nb")],
    ...(["end", "write", "flushHeaders"] as const).map(
      (method) =>
        [
          `a text of the status at ${method}`,
          "ERR_INVALID_CHAR",
          (response: Response) => {
            response.statusMessage = "sold out ☃";
            response[method]("x");
          },
        ] as const,
    ),
  ] satisfies (readonly [string, string, (response: Response) => void])[]) {
    it(`refuses ${what} that cannot be sent, as Node.js does`, async () => {
      const codes: unknown[] = [];
      const order = await failing((_request, response) => {
        try {
          send(response);
        } catch (error) {
          codes.push((error as { code?: unknown }).code);
          throw error;
        }
      });
      // The outcome is unknown, so a retry runs.
      for (let time = 0; time < 2; time++) {
        assert.equal((await order.post()).status, 500);
      }
      assert.deepEqual(codes, [code, code]);
    });
  }

  it("treats a status as the whole number that Node.js sends", async () => {
    let runs = 0;
    let given: unknown;
    const { order } = await servers.serving((_request, response) => {
      runs += 1;
      Object.assign(response, { statusCode: given });
      response.json({ runs });
    });
    given = "409";
    for (const run of [1, 2]) {
      const { status, text, headers } = await order.post();
      assert.deepEqual([status, text, replayed({ headers })], [409, `{"runs":${run}}`, false]);
    }
    given = 200.5;
    for (const isReplay of [false, true]) {
      const { status, text, headers } = await order.post();
      assert.deepEqual([status, text, replayed({ headers })], [200, '{"runs":3}', isReplay]);
    }
  });

  it("logs why a response was not sent", async () => {
    const failures: string[] = [];
    const onFailure = (what: string, error: unknown) => void failures.push(`${what}: ${String(error)}`);
    const outside: RequestHandler = (_request, response, next) => {
      response.end = () => {
        throw new Error("the session is not saved");
      };
      next();
    };
    const { order } = await servers.serving((_request, response) => void response.end("paid"), {
      before: [outside],
      options: { onFailure },
    });
    await assert.rejects(order.post());
    assert.deepEqual(failures, ["a response was not sent: Error: the session is not saved"]);
  });

  it("protects a request once, if the middleware appears twice", async () => {
    let takeovers: number | undefined;
    const { order } = await servers.serving(
      (request, response) => {
        takeovers = claimOf(request)?.takeovers;
        response.end("paid");
      },
      { before: [idempotent<Request>(servers.payments, { scope: tenant, secret: SECRET })] },
    );
    for (const isReplay of [false, true]) {
      const answer = await order.post();
      assert.deepEqual([answer.status, answer.text, replayed(answer)], [200, "paid", isReplay]);
    }
    assert.equal(takeovers, 0);
  });

  /** A handler that stores its own result. */
  async function noResponse(request: Request, response: Response): Promise<void> {
    await claimOf(request)?.complete("17", { tag: "json" });
    response.end();
  }

  it("logs what a client does not learn, and survives a log that fails", async (context) => {
    const failures: string[] = [];
    const errors = context.mock.method(console, "error", () => undefined);
    const onFailure = (what: string, error: unknown) => {
      failures.push(`${what}: ${String(error)}`);
      throw new Error("the log is full");
    };
    const { order } = await servers.serving(noResponse, { options: { onFailure } });
    await order.post();
    assert.equal((await order.post()).status, 500);
    assert.deepEqual(failures, [
      'a stored response cannot be replayed: Error: it is not a response: its tag is "json"',
    ]);
    assert.equal(errors.mock.callCount(), 1);
  });

  it("warns by default", async (context) => {
    const warnings = context.mock.method(console, "warn", () => undefined);
    const { order } = await servers.serving(noResponse);
    await order.post();
    await order.post();
    assert.match(String(warnings.mock.calls[0]?.arguments[0]), /^fencepost: a stored response cannot be replayed/);
  });
});
