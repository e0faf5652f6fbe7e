/** The middleware for Hono, where it differs from others: tests/http tests the common behaviour. */

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";

import { type Claim, type Client, type Idempotency, connect } from "fencepost";
import { claimOf, idempotent, issueToken, recordKey, tokenField } from "fencepost/web/hono";
import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";

import { fresh } from "./support/backends.js";
import { address, within } from "./support/servers.js";
import { Moment, ORDER, SECRET } from "./support/web.js";

const scope = () => "shop-7";
const LIMIT = 90_000;

describe("Hono", { concurrency: false }, () => {
  let client: Client;
  let payments: Idempotency;
  let app: Hono;
  let key: string;

  before(async () => {
    client = await connect(`redis://${address("FENCEPOST_REDIS")}`);
  });
  beforeEach(() => {
    payments = client.idempotency(fresh());
    app = new Hono();
    key = fresh();
  });
  after(() => client.close());

  /** A request without a server, as in a worker. */
  const post = (body: string | URLSearchParams = ORDER, more: RequestInit = {}) =>
    app.request("/orders/a%20b?x=%2F", { method: "POST", body, headers: { "Idempotency-Key": key }, ...more });

  async function facts(response: Response) {
    const { status, headers } = response;
    const [stored, replayed] = [headers.get("idempotency-stored"), headers.get("idempotent-replayed")];
    return { status, text: await response.text(), stored, replayed };
  }

  it("lets the handler read the body in any way, and does not report a client that hangs up", async () => {
    app.use(idempotent(payments, { scope, secret: SECRET }));
    app.post("/orders/:name", async (c) => {
      const json: unknown = await c.req.json();
      const raw = new Uint8Array(await c.req.arrayBuffer());
      return c.json({ json, length: raw.length, name: c.req.param("name"), aborted: c.req.raw.signal.aborted });
    });
    const hung = AbortSignal.abort();
    const expected = { json: { cents: 1700 }, length: ORDER.length, name: "a b", aborted: false };
    for (const replayed of [null, "true"]) {
      const { text, ...rest } = await facts(await post(ORDER, { signal: hung }));
      assert.deepEqual([JSON.parse(text), rest], [expected, { status: 200, stored: null, replayed }]);
    }
  });

  it("takes a body that has been read as a whole, and says so for any other", async () => {
    app.use(async (c, next) => {
      await (c.req.header("x-read") === "json" ? c.req.formData().catch(() => null) : c.req.text());
      await next();
    });
    app.use(idempotent(payments, { scope, secret: SECRET }));
    app.post("/orders/:name", (c) => c.text("done"));
    const failures: unknown[] = [];
    app.onError((error, c) => {
      failures.push(error.message);
      return c.text("failed", 500);
    });
    assert.equal((await post()).status, 200);
    assert.equal((await post("{}")).status, 422);
    assert.equal((await post(ORDER, { headers: { "Idempotency-Key": key, "X-Read": "json" } })).status, 500);
    assert.match(String(failures), /before what reads it/);
  });

  it("stores what comes as a whole, and not what comes in pieces", async () => {
    let goOn = new Moment();
    const pieces = (between: () => Promise<unknown>) => {
      const texts = ["abc", "def"];
      return new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (texts.length < 2) {
            await between();
          }
          const text = texts.shift();
          if (text === undefined) {
            controller.close();
          } else {
            controller.enqueue(new TextEncoder().encode(text));
          }
        },
      });
    };
    const soon = () => new Promise((resolve) => setImmediate(resolve));
    const length = { headers: { "Content-Length": "6" } };
    const bodies: [string, () => Response, boolean][] = [
      ["a text", () => new Response("abcdef"), true],
      ["bytes", () => new Response(new TextEncoder().encode("abcdef")), true],
      ["a blob", () => new Response(new Blob(["abcdef"]), length), true],
      ["pieces of a known length", () => new Response(pieces(soon), length), true],
      ["pieces", () => new Response(pieces(() => Promise.resolve())), false],
      ["more than was announced", () => new Response(pieces(soon), { headers: { "Content-Length": "5" } }), false],
      ["a piece that comes after the head was sent", () => new Response(pieces(() => goOn.come)), false],
    ];
    app.use(idempotent(payments, { scope, secret: SECRET }));
    let respond: (() => Response) | undefined;
    app.post("/orders/:name", () => respond?.() ?? new Response(null, { status: 500 }));
    for (const [name, make, isStored] of bodies) {
      key = fresh();
      respond = make;
      goOn = new Moment();
      const response = await post();
      goOn.happen();
      const first = await facts(response);
      assert.deepEqual(first, { status: 200, text: "abcdef", stored: isStored ? null : "false", replayed: null }, name);
      const retry = { status: 200, text: isStored ? "abcdef" : "", stored: first.stored, replayed: "true" };
      assert.deepEqual(await facts(await post()), retry, name);
    }
  });

  it("completes before the last byte of what is too large", async () => {
    app.use(idempotent(payments, { scope, secret: SECRET, maxResult: 30 }));
    const never = new Promise<void>(() => undefined);
    app.post("/orders/:name", (c) => {
      let count = 0;
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          count += 1;
          if (count > 2) {
            await never;
          }
          controller.enqueue(new Uint8Array(20));
        },
      });
      return c.body(body, 200, { "Content-Length": "40" });
    });
    const reader = (await post()).body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    for (let size = 0; size < 40;) {
      size += (await reader.read()).value?.length ?? 40;
    }
    assert.equal((await payments.look(await recordKey("shop-7", key)))?.state, "done");
    assert.equal((await facts(await post())).stored, "false");
  });

  it("ends the claim by the status that an error has got", async () => {
    const takeovers: unknown[] = [];
    app.use(idempotent(payments, { scope, secret: SECRET }));
    app.post("/orders/:name", (c) => {
      takeovers.push(claimOf(c)?.takeovers);
      throw takeovers.length === 1 ? new Error("no") : new HTTPException(422, { message: "too little" });
    });
    app.onError((error, c) => c.text(error.message, error instanceof HTTPException ? error.status : 500));
    assert.equal((await post()).status, 500);
    for (const replayed of [null, "true"]) {
      assert.deepEqual(await facts(await post()), { status: 422, text: "too little", stored: null, replayed });
    }
    assert.deepEqual(takeovers, [0, 1]);
  });

  it("leaves the claim of a body that fails, and completes that of one without a reader", async () => {
    // The list refers to the claims, so that the garbage collector does not find them.
    const claims: (Claim | null)[] = [];
    const ended = new Moment();
    app.use(idempotent(payments, { scope, secret: SECRET }));
    app.post("/orders/:name", (c) => {
      claims.push(claimOf(c));
      let count = 0;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          count += 1;
          if (count === 3 && claims.length === 1) {
            throw new Error("in the middle");
          }
          if (count === 5) {
            controller.close();
            ended.happen();
          } else {
            controller.enqueue(new Uint8Array(count));
          }
        },
      });
      return c.body(body);
    });
    await assert.rejects((await post()).text(), /in the middle/);
    const second = await post();
    await second.body?.cancel();
    await within(LIMIT, "the end of the body", ended.come);
    assert.equal((await facts(await post())).replayed, "true");
    assert.deepEqual(
      claims.map((claim) => claim?.takeovers),
      [0, 1],
    );
  });

  it("leaves the claim of a handler that returns nothing, and Hono says what is wrong", async () => {
    const claims: (Claim | null)[] = [];
    app.use(idempotent(payments, { scope, secret: SECRET }));
    app.post("/orders/:name", (c) => {
      claims.push(claimOf(c));
      const answer = c.text("paid", 201);
      return claims.length === 1 ? (undefined as unknown as Response) : answer;
    });
    const failures: string[] = [];
    app.onError((error, c) => {
      failures.push(error.message);
      return c.text("failed", 500);
    });
    assert.deepEqual(await facts(await post()), { status: 500, text: "failed", stored: null, replayed: null });
    assert.match(String(failures), /Context is not finalized/);
    for (const replayed of [null, "true"]) {
      assert.deepEqual(await facts(await post()), { status: 201, text: "paid", stored: null, replayed });
    }
    assert.equal(claims[1]?.takeovers, 1);
  });

  it("does not wait for timers that a test has faked", async (context) => {
    app.use(idempotent(payments, { scope, secret: SECRET }));
    app.post("/orders/:name", (c) =>
      c.body(
        new ReadableStream({
          start(controller) {
            controller.enqueue("first ");
            setTimeout(() => {
              controller.enqueue("second");
              controller.close();
            }, 1000);
          },
        }).pipeThrough(new TextEncoderStream()),
      ),
    );
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const response = await post();
    context.mock.timers.tick(1000);
    assert.equal(await response.text(), "first second");
  });

  it("gives the client the response that the record has got meanwhile", async () => {
    app.use(idempotent(payments, { scope, secret: SECRET }));
    app.post("/orders/:name", async (c) => {
      const claim = claimOf(c);
      const seen = await payments.look(claim?.key ?? "");
      assert.ok(claim !== null && seen !== null);
      const theirs = "201\nlocation: /theirs\n\ntheirs";
      await payments.settle(claim.key, seen, theirs, { tag: "http-response:1" });
      return c.text("mine", 200, { "Location": "/mine", "Link": "</mine>", "Set-Cookie": "mine=1" });
    });
    const response = await post();
    const { location, link, ...rest } = Object.fromEntries(response.headers);
    assert.deepEqual([location, link, rest["set-cookie"]], ["/theirs", undefined, "mine=1"]);
    assert.deepEqual(await facts(response), { status: 201, text: "theirs", stored: null, replayed: "true" });
  });

  it("announces no body that a status cannot have, but a server of another language has stored", async () => {
    app.use(idempotent(payments, { scope, secret: SECRET }));
    app.post("/orders/:name", async (c) => {
      await claimOf(c)?.complete("205\n\nbody", { tag: "http-response:1" });
      return c.body(null, 205);
    });
    await post();
    const retry = await post();
    assert.equal(retry.headers.get("content-length"), "0");
    assert.deepEqual(await facts(retry), { status: 205, text: "", stored: null, replayed: "true" });
  });

  it("has a worker wait for what goes on", async () => {
    const works: Promise<unknown>[] = [];
    const context = {
      waitUntil: (work: Promise<unknown>) => void works.push(work),
      passThroughOnException: () => undefined,
      props: {},
    };
    app.use(idempotent(payments, { scope, secret: SECRET }));
    app.post("/orders/:name", (c) => c.body(null, 204));
    const request = new Request("http://shop/orders/1", {
      method: "POST",
      body: "x",
      headers: { "Idempotency-Key": key },
    });
    assert.equal((await app.fetch(request.clone(), {}, context)).status, 204);
    assert.equal(works.length, 1);
    await Promise.all(works);
    const retry = await app.fetch(request, {}, context);
    assert.deepEqual([retry.status, retry.headers.get("idempotent-replayed")], [204, "true"]);
    // An operator finds the record.
    assert.equal((await payments.look(await recordKey("shop-7", key)))?.state, "done");
  });

  it("takes the tokens that the program has issued", async () => {
    app.use(idempotent<Context>(payments, { scope, secret: SECRET, tokens: true }));
    app.post("/orders/:name", (c) => c.text("done"));
    const token = await issueToken(payments, "shop-7", { life: 60_000 });
    const form = () => new URLSearchParams({ "cents": "1700", "idempotency-token": token });
    assert.match(token, /^[\w-]{32}$/);
    assert.equal((await facts(await post(form(), { headers: {} }))).replayed, null);
    assert.equal((await facts(await post(form(), { headers: {} }))).replayed, "true");
    assert.equal(tokenField(token), `<input type="hidden" name="idempotency-token" value="${token}">`);
    assert.throws(() => tokenField('"><script>'), /token is/);
    const other = await issueToken(payments, "shop-8");
    assert.equal((await post("x", { headers: { "Idempotency-Token": other } })).status, 422);
    await assert.rejects(issueToken(payments, ""), /scope has returned ""/);
  });

  it("protects a request once, if the middleware appears twice", async () => {
    app.use(idempotent(payments, { scope, secret: SECRET }));
    app.use(idempotent(payments, { scope, secret: SECRET }));
    app.post("/orders/:name", (c) => c.text(String(claimOf(c)?.takeovers)));
    assert.deepEqual(await facts(await post()), { status: 200, text: "0", stored: null, replayed: null });
    assert.equal((await facts(await post())).replayed, "true");
  });
});
