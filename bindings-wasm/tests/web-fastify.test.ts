/** The middleware for Fastify, where it differs from others: tests/http tests the common behaviour. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingHttpHeaders, constants, connect as http2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";

import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RouteShorthandOptions,
  fastify,
} from "fastify";
import { type Claim, type Client, type Idempotency, connect } from "fencepost";
import { type WebOptions, claimOf, idempotent } from "fencepost/web/fastify";

import { fresh } from "./support/backends.js";
import { address, eventually, within } from "./support/servers.js";
import { Moment, Order, SECRET, portOf, received } from "./support/web.js";

const LIMIT = 90_000;

describe("Fastify", { concurrency: false }, () => {
  let client: Client;
  let payments: Idempotency;
  let app: FastifyInstance;

  before(async () => {
    client = await connect(`redis://${address("FENCEPOST_REDIS")}`);
  });
  beforeEach(() => {
    payments = client.idempotency(fresh());
    app = fastify({ forceCloseConnections: true });
  });
  afterEach(() => app.close());
  after(() => client.close());

  async function serving(
    handler: (request: FastifyRequest, reply: FastifyReply) => unknown,
    options: Partial<WebOptions<FastifyRequest>> = {},
    route: RouteShorthandOptions = {},
  ): Promise<Order> {
    const scope = () => "shop-7";
    await app.register(idempotent<FastifyRequest>(payments, { scope, secret: SECRET, ...options }));
    app.post("/", route, handler);
    await app.listen({ host: "127.0.0.1", port: 0 });
    return new Order(await portOf(app.server));
  }

  const facts = ({ status, headers, text }: Awaited<ReturnType<Order["post"]>>) => ({
    status,
    text,
    stored: headers["idempotency-stored"],
    replayed: headers["idempotent-replayed"],
  });

  it("claims after the validation, and after the hooks before it", async () => {
    let user: string | undefined;
    app.addHook("preHandler", (_request, _reply, done) => {
      user = "alice";
      done();
    });
    const order = await serving(
      (request) => request.body,
      { scope: () => user ?? "" },
      { schema: { body: { type: "object", required: ["cents"], properties: { cents: { type: "integer" } } } } },
    );
    assert.equal((await order.post("{}")).status, 400);
    // The key is still free.
    assert.equal((await order.post('{"cents":1}')).text, '{"cents":1}');
    assert.deepEqual(facts(await order.post('{"cents":1}')), {
      status: 200,
      text: '{"cents":1}',
      stored: undefined,
      replayed: "true",
    });
  });

  it("stores streams of a known length, and what a Response has", async () => {
    const known = await serving((_request, reply) => {
      void reply.header("Content-Length", 6);
      return reply.send(Readable.from([Buffer.from("abc"), Buffer.from("def")]));
    });
    for (const replayed of [undefined, "true"]) {
      assert.deepEqual(facts(await known.post()), { status: 200, text: "abcdef", stored: undefined, replayed });
    }
    await app.close();
    app = fastify();
    const response = await serving(() => new Response("abc", { status: 202, headers: { Location: "/17" } }));
    for (const replayed of [undefined, "true"]) {
      const answer = await response.post();
      assert.deepEqual(facts(answer), { status: 202, text: "abc", stored: undefined, replayed });
      assert.equal(answer.headers["location"], "/17");
    }
  });

  it("announces the length of a whole body in one way only", async () => {
    const head = { headers: { "Transfer-Encoding": "chunked" } };
    const order = await serving(() => new Response("abc", head));
    for (const replayed of [undefined, "true"]) {
      const answer = await order.post();
      assert.deepEqual(facts(answer), { status: 200, text: "abc", stored: undefined, replayed });
      assert.equal(answer.headers["transfer-encoding"], undefined);
    }
  });

  it("announces the end of a body whose length a later hook has removed", async () => {
    const onSend = async (_request: unknown, reply: FastifyReply, payload: unknown) => {
      reply.removeHeader("content-length");
      return Readable.from([payload]);
    };
    const order = await serving(() => "abc", {}, { onSend });
    for (const replayed of [undefined, "true"]) {
      const answer = await order.post();
      assert.deepEqual(facts(answer), { status: 200, text: "abc", stored: undefined, replayed });
      assert.equal(answer.headers["transfer-encoding"], "chunked");
    }
  });

  it("treats a status that is a text as the number that Node.js sends", async () => {
    let runs = 0;
    const order = await serving((_request, reply) => {
      runs += 1;
      Object.assign(reply.raw, { statusCode: "409" });
      return "sold out";
    });
    for (const run of [1, 2]) {
      assert.deepEqual(facts(await order.post()), {
        status: 409,
        text: "sold out",
        stored: undefined,
        replayed: undefined,
      });
      assert.equal(runs, run);
    }
  });

  it("ends a request whose body no code reads", async () => {
    const ended = new Moment();
    app.addHook("onRequest", ({ raw }) => {
      raw.on("close", ended.happen);
      return Promise.resolve();
    });
    const order = await serving(() => "done");
    const socket = order.open("x".repeat(500_000), { "Content-Type": "unknown/type" });
    await received(socket, / 415 /);
    await within(LIMIT, "the end of the request", ended.come);
    socket.destroy();
  });

  it("works with inject", async () => {
    await serving((request) => request.body);
    const inject = { method: "POST", url: "/", headers: { "idempotency-key": fresh() } } as const;
    const payload = { text: "x".repeat(100_000) };
    for (const replayed of [undefined, "true"]) {
      const { statusCode, headers, body } = await app.inject({ ...inject, payload });
      assert.deepEqual([statusCode, headers["idempotent-replayed"], body], [200, replayed, JSON.stringify(payload)]);
    }
    assert.equal((await app.inject({ ...inject, payload: {} })).statusCode, 422);
  });

  it("works with HTTP/2, where a client hangs up by cancelling its request", async () => {
    const [entered, goOn] = [new Moment(), new Moment()];
    const two = fastify({ http2: true });
    await two.register(idempotent(payments, { scope: () => "shop-7", secret: SECRET, wait: LIMIT }));
    const order = fresh();
    const gone = new Moment();
    two.post("/", async (request, reply) => {
      reply.raw.stream.on("close", gone.happen);
      entered.happen();
      await goOn.come;
      return request.body;
    });
    await two.listen({ host: "127.0.0.1", port: 0 });
    const session = http2(`http://127.0.0.1:${(two.server.address() as AddressInfo).port}`);
    const send = (end = "without a length") => {
      const headers = { ":method": "POST", ":path": "/", "idempotency-key": order, "content-type": "text/plain" };
      const request = session.request(headers).on("error", () => undefined);
      request.write("a body ");
      request.end(end);
      return request;
    };
    try {
      const first = send();
      await entered.come;
      first.close(constants.NGHTTP2_CANCEL);
      await gone.come;
      goOn.happen();
      const retry = send();
      const [headers] = (await once(retry, "response")) as [IncomingHttpHeaders];
      assert.deepEqual([headers[":status"], headers["idempotent-replayed"]], [200, "true"]);
      assert.equal(String((await once(retry, "data"))[0]), "a body without a length");
      const [other] = (await once(send("of another length"), "response")) as [IncomingHttpHeaders];
      assert.equal(other[":status"], 422);
    } finally {
      session.destroy();
      await two.close();
    }
  });

  it("replays a body without a type, as it was", async () => {
    const order = await serving((request) => claimOf(request)?.complete("200\n\nabc", { tag: "http-response:1" }));
    await order.post();
    const answer = await order.post();
    assert.deepEqual([answer.text, answer.headers["content-type"]], ["abc", undefined]);
  });

  it("leaves the claim of a stream that fails, and of a handler that writes by itself", async () => {
    // The list refers to the claims, so that the garbage collector does not find them.
    const claims: (Claim | null)[] = [];
    const failing = async function* () {
      yield "piece";
      await Promise.reject(new Error("in the middle"));
    };
    const order = await serving((request, reply) => {
      claims.push(claimOf(request));
      switch (claims.length) {
        case 1:
          return reply.send(Readable.from(failing()));
        case 2:
          return reply.header("Content-Length", "10").send(Readable.from(failing()));
        case 3:
          reply.hijack();
          reply.raw.end("by itself");
          return reply;
        default:
          return "done";
      }
    });
    await assert.rejects(order.post());
    let statuses: number[] = [];
    await eventually(LIMIT, "the third run", async () => {
      const { status, text } = await order.post();
      statuses = [...statuses, status];
      return text === "by itself";
    });
    // A failure while the body is held back is reported as any other error.
    assert.ok(statuses.includes(500));
    await eventually(LIMIT, "the last run", async () => (await order.post()).text === "done");
    assert.deepEqual(
      claims.map((claim) => claim?.takeovers),
      [0, 1, 2, 3],
    );
  });

  it("keeps the signal of a request whose client has hung up, and its close waits for the handler", async () => {
    const [entered, goOn] = [new Moment<FastifyRequest>(), new Moment()];
    const order = await serving(async (request) => {
      const { signal } = request;
      entered.happen(request);
      await goOn.come;
      return `aborted: ${signal.aborted}`;
    });
    const socket = order.open();
    const { socket: other } = await entered.come;
    socket.destroy();
    await once(other, "close");
    let isClosed = false;
    const closed = app.close().then(() => (isClosed = true));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isClosed, false);
    goOn.happen();
    await within(LIMIT, "the close", closed);

    app = fastify();
    const again = Object.assign(await serving(() => "again"), { key: order.key });
    assert.deepEqual(facts(await again.post()), {
      status: 200,
      text: "aborted: false",
      stored: undefined,
      replayed: "true",
    });
  });

  for (const [what, change] of Object.entries<(reply: FastifyReply) => void>({
    "an error": () => {
      throw new Error("after the response");
    },
    "a second response": (reply) => void reply.code(400).send({ error: "a second one" }),
    "another status and header": (reply) => void reply.code(500).header("x-late", "1").header("set-cookie", "b=2"),
  })) {
    it(`sends the response that it stores, with ${what} after it`, async () => {
      const order = await serving((_request, reply) => {
        void reply.code(201).header("set-cookie", ["a=1", "c=3"]).send({ paid: true });
        change(reply);
      });
      const first = await order.post();
      assert.deepEqual([facts(first).status, first.text], [201, '{"paid":true}']);
      assert.deepEqual([first.headers["x-late"], first.headers["set-cookie"]], [undefined, ["a=1", "c=3"]]);
      const retry = facts(await order.post());
      assert.deepEqual([retry.status, retry.text, retry.replayed], [201, '{"paid":true}', "true"]);
    });
  }

  for (const where of ["of its own", "of another scope"]) {
    it(`stores what the not-found handler ${where} answers for a handler`, async () => {
      const takeovers: unknown[] = [];
      app.setNotFoundHandler((request, reply) => {
        takeovers.push(claimOf(request)?.takeovers);
        return reply.code(404).send("no such order");
      });
      const register = async (instance: FastifyInstance) => {
        const options = { scope: () => "shop-7", secret: SECRET };
        await instance.register(idempotent<FastifyRequest>(payments, options));
        instance.post("/", (_request, reply) => {
          reply.callNotFound();
        });
      };
      await (where === "of its own" ? register(app) : app.register(register));
      await app.listen({ host: "127.0.0.1", port: 0 });
      const order = new Order(await portOf(app.server));
      for (const replayed of [undefined, "true"]) {
        assert.deepEqual(facts(await order.post()), {
          status: 404,
          text: "no such order",
          stored: undefined,
          replayed,
        });
      }
      assert.deepEqual(takeovers, [0]);
    });
  }

  it("does not call the error of a hook a replay", async () => {
    let sent = 0;
    app.addHook("onSend", async (_request, _reply, payload) => {
      sent += 1;
      if (sent === 2) {
        throw new Error("the hook has failed");
      }
      return payload;
    });
    const order = await serving(() => "paid");
    assert.equal((await order.post()).status, 200);
    const failed = await order.post();
    assert.deepEqual([failed.status, failed.headers["idempotent-replayed"]], [500, undefined]);
    assert.match(failed.text, /the hook has failed/);
    assert.equal(facts(await order.post()).replayed, "true");
  });

  it("leaves a payload that Fastify does not send to Fastify", async () => {
    const order = await serving((_request, reply) => void reply.type("text/plain").send(42));
    assert.match((await order.post()).text, /FST_ERR_REP_INVALID_PAYLOAD_TYPE/);
  });

  it("protects a request once, if two plugins cover it", async () => {
    await app.register(idempotent<FastifyRequest>(payments, { scope: () => "shop-7", secret: SECRET }));
    const order = await serving((request) => claimOf(request)?.takeovers);
    assert.deepEqual(facts(await order.post()), { status: 200, text: "0", stored: undefined, replayed: undefined });
    assert.equal(facts(await order.post()).replayed, "true");
  });
});
