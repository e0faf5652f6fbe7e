/** The middleware for Express, where it differs from others: tests/http tests the common behaviour. */

import assert from "node:assert/strict";
import { it } from "node:test";

import type { Request, Response } from "express";
import { Idempotency } from "fencepost";
import { claimOf, idempotent } from "fencepost/web/express";

import { fresh } from "./support/backends.js";
import { isConfig } from "./support/errors.js";
import { eachExpress, replayed, tenant } from "./support/express.js";
import { eventually, within } from "./support/servers.js";
import { Moment, ORDER, Order, SECRET, received } from "./support/web.js";

const LIMIT = 90_000;

eachExpress("requests and responses", (servers) => {
  it("lets body parsers read what it has read", async () => {
    const { order } = await servers.serving(
      (request, response) => {
        response.json({ cents: (request.body as { cents: number }).cents });
      },
      { between: [servers.make.json()] },
    );
    assert.equal((await order.post()).text, ORDER);
    const retry = await order.post();
    assert.deepEqual([retry.text, replayed(retry)], [ORDER, true]);
  });

  it("takes the bytes that a body parser has kept, and says so if there are none", async () => {
    const keep = (request: object, _response: unknown, bytes: Buffer) => Object.assign(request, { rawBody: bytes });
    const answer = (request: Request, response: Response) => void response.json(request.body);
    const { order } = await servers.serving(answer, { before: [servers.make.json({ verify: keep })] });
    assert.equal((await order.post()).text, ORDER);
    assert.equal((await order.post('{"cents":1}')).status, 422);
    const without = await servers.serving(answer, { before: [servers.make.json()] });
    const failed = await without.order.post();
    assert.equal(failed.status, 500);
    assert.match(failed.text, /before body parsers/);
    assert.equal((await without.order.post("")).status, 200);
  });

  it("stores a response that is written in pieces of a known length", async () => {
    let given = 0;
    const { order } = await servers.serving((_request, response) => {
      given += 1;
      const head = ["Content-Length", "6", "Link", "</a>", "Link", "</b>"];
      response.writeHead(202, "Taken", given === 1 ? head : {});
      assert.equal(response.headersSent, true);
      response.write("abc", "latin1", () => response.end(Buffer.from("def")));
      return undefined;
    });
    const first = await order.post();
    const retry = await order.post();
    assert.deepEqual([first.status, first.text, first.headers["link"]], [202, "abcdef", "</a>, </b>"]);
    assert.deepEqual([retry.status, retry.text, retry.headers["link"]], [202, "abcdef", "</a>, </b>"]);
    assert.ok(replayed(retry));
  });

  it("does not store a body that is longer than announced", async () => {
    let runs = 0;
    const { order } = await servers.serving((_request, response) => {
      runs += 1;
      response.setHeader("Content-Length", 3).end("abcdef");
    });
    const socket = order.open();
    const text = await received(socket, /abcdef/);
    assert.match(text, /idempotency-stored: false/i);
    socket.destroy();
    const retry = await order.post();
    assert.deepEqual([retry.text, replayed(retry), retry.headers["idempotency-stored"], runs], ["", true, "false", 1]);
  });

  it("does not announce the length of an answer to HEAD, which is not stored", async () => {
    const { port } = await servers.serving(
      (_request, response) => {
        response.json({ paid: 17 });
      },
      { options: { methods: ["HEAD"] } },
    );
    const headers = { "Idempotency-Key": fresh() };
    const lengths: unknown[] = [];
    for (const isReplay of [false, true]) {
      const answer = await fetch(`http://127.0.0.1:${port}`, { method: "HEAD", headers });
      assert.equal(answer.headers.has("idempotent-replayed"), isReplay);
      lengths.push(answer.headers.get("content-length"));
    }
    assert.deepEqual(lengths, ["11", null]);
  });

  it("completes before the last byte of what is too large", async () => {
    const [entered, written, goOn] = [new Moment<Request>(), new Moment(), new Moment()];
    const { order } = await servers.serving(
      async (request, response) => {
        entered.happen(request);
        response.set("Content-Length", "40").write("x".repeat(20));
        response.write("y".repeat(20), () => written.happen());
        await goOn.come;
        response.end();
      },
      { options: { maxResult: 30 } },
    );
    const socket = order.open();
    const { key } = claimOf(await entered.come) ?? { key: "" };
    await written.come;
    const before = await received(socket, /x{20}/);
    assert.doesNotMatch(before, /yy/);
    goOn.happen();
    await received(socket, /y{20}$/);
    assert.equal((await servers.payments.look(key))?.state, "done");
    const retry = await order.post();
    assert.deepEqual([retry.text, retry.headers["idempotency-stored"]], ["", "false"]);
    socket.destroy();
  });

  it("takes nothing after the end", async () => {
    const refused = new Moment<Error | null | undefined>();
    const [refusedEnd, sent] = [new Moment<unknown>(), new Moment()];
    const { order } = await servers.serving((_request, response) => {
      response.end("whole");
      assert.equal(response.writableEnded, true);
      response.end("again");
      response.end("again", (...given: unknown[]) => {
        refusedEnd.happen(given[0]);
      });
      response.end(sent.happen);
      assert.equal(response.write("more", refused.happen), false);
    });
    assert.equal((await order.post()).text, "whole");
    for (const { come } of [refused, refusedEnd]) {
      assert.match(String(await within(LIMIT, "the refusal", come)), /has ended/);
    }
    await within(LIMIT, "the end of the response", sent.come);
    const retry = await order.post();
    assert.deepEqual([retry.text, replayed(retry)], ["whole", true]);
  });

  it("passes on what is flushed before its end", async () => {
    const goOn = new Moment();
    const { order } = await servers.serving(async (_request, response) => {
      response.type("text/event-stream").flushHeaders();
      await goOn.come;
      response.write("data: 1\n\n");
      response.end("data: 2\n\n");
    });
    const socket = order.open();
    await received(socket, /^HTTP\/1.1 200 OK[^]*idempotency-stored: false[^]*\r\n\r\n/i);
    goOn.happen();
    await received(socket, /data: 1/);
    await eventually(LIMIT, "the completion", async () => replayed(await order.post()));
    socket.destroy();
  });

  it("lets a handler end its claim itself", async () => {
    const { order } = await servers.serving(async (request, response) => {
      await claimOf(request)?.release();
      response.end(String(claimOf(request)?.takeovers));
    });
    for (let count = 0; count < 2; count++) {
      const answer = await order.post();
      assert.deepEqual([answer.text, replayed(answer), answer.headers["idempotency-stored"]], ["0", false, undefined]);
    }
  });

  it("gives the client the response of the attempt that was quicker", async () => {
    const scope = fresh();
    servers.payments = servers.client.idempotency(scope, { lease: 1000, renew: false });
    const other = servers.client.idempotency(scope);
    const { order } = await servers.serving(async (request, response) => {
      const claim = claimOf(request);
      assert.ok(claim !== null);
      await claim.lost;
      const record = await other.look(claim.key);
      assert.equal(record?.state, "running");
      const next = new Order(port);
      Object.assign(next, { key: order.key });
      const theirs = await next.post();
      assert.equal(theirs.text, "theirs");
      response.set({ "Location": "/mine", "Link": "</mine>", "Set-Cookie": "mine=1" }).send("mine");
    });
    const app = servers.make();
    app.use(idempotent(other, { scope: tenant, secret: SECRET, wait: LIMIT }));
    app.use((_request, response) => void response.status(201).set("Location", "/theirs").end("theirs"));
    const port = await servers.listen(app);
    const answer = await order.post();
    const { location, link, "set-cookie": cookie } = answer.headers;
    assert.deepEqual([answer.status, answer.text, replayed(answer)], [201, "theirs", true]);
    assert.deepEqual([location, link, cookie], ["/theirs", undefined, ["mine=1"]]);
  });

  it("stores the headers that the program names, and ends claims as it says", async () => {
    let runs = 0;
    const { order } = await servers.serving(
      (_request, response) => {
        runs += 1;
        response
          .status(runs === 1 ? 404 : 500)
          .set("X-Order", String(runs))
          .end();
      },
      { options: { storedHeaders: ["X-Order"], ends: { 404: "release", 500: "complete" } } },
    );
    const answers = [await order.post(), await order.post(), await order.post()];
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers["x-order"]]),
      [
        [404, "1"],
        [500, "2"],
        [500, "2"],
      ],
    );
    assert.ok(replayed(answers[2] ?? { headers: {} }));
  });

  it("runs nothing for a tenant that is none", async () => {
    let runs = 0;
    let given: unknown;
    const scope = () => given as string;
    const { order } = await servers.serving(
      (_request, response) => {
        runs += 1;
        response.end();
      },
      { options: { scope } },
    );
    for (given of ["", undefined, 7, "\ud800"]) {
      const failed = await order.post();
      assert.deepEqual([failed.status, failed.text.includes("scope")], [500, true]);
    }
    assert.equal(runs, 0);
  });

  it("runs nothing for a record that is no response", async () => {
    const keys: string[] = [];
    const { order } = await servers.serving((request, response) => {
      keys.push(claimOf(request)?.key ?? "");
      response.status(500).end();
    });
    await order.post();
    const [key = ""] = keys;
    const seen = await servers.payments.look(key);
    assert.ok(seen !== null);
    await servers.payments.settle(key, seen, "{}", { tag: "json" });
    const failed = await order.post();
    assert.deepEqual([failed.status, failed.text.includes("corrupt-record"), keys.length], [500, true, 1]);
  });

  it("refuses options that make no sense", () => {
    const says = (kind: string, text: RegExp, options: object, of: unknown = servers.payments) => {
      const given = { scope: tenant, secret: SECRET, ...options };
      assert.throws(() => idempotent(of as Idempotency, given), isConfig(kind, text));
    };
    says("unreadable-settings", /client\.idempotency/, {}, servers.client);
    says("unreadable-settings", /scope is undefined: it has to be a function/, { scope: undefined });
    says("unreadable-settings", /secret/, { secret: undefined });
    says("invalid-option", /secret has 15 bytes: give it 16/, { secret: "x".repeat(15) });
    says("invalid-option", /secret is an empty array/, { secret: [] });
    says("invalid-option", /secret has 5 bytes/, { secret: [SECRET, "short"] });
    says("unknown-option", /max_body/, { max_body: 1 });
    says("unreadable-settings", /methods/, { methods: "POST" });
    says("invalid-option", /methods has "patch": give it "PATCH"/, { methods: ["POST", "patch"] });
    says("invalid-option", /methods has ""/, { methods: [""] });
    says("unreadable-settings", /covers/, { covers: true });
    says("unreadable-settings", /required/, { required: "yes" });
    says("invalid-option", /wait is 0/, { wait: 0 });
    says("invalid-option", /maxBody is 0/, { maxBody: 0 });
    says("invalid-option", /maxResult is 1000001: .* to 1000000/, { maxResult: 1_000_001 });
    says("invalid-option", /ends has "199": "release"/, { ends: { 199: "release" } });
    says("invalid-option", /ends has "404": "forget"/, { ends: { 404: "forget" } });
    says("unreadable-settings", /ends is 404/, { ends: 404 });
    says("invalid-option", /storedHeaders has "Set-Cookie"/, { storedHeaders: ["Set-Cookie"] });
    says("invalid-option", /tokenPath.*set tokens/, { tokenPath: "/tokens" });
    says("invalid-option", /tokenPath is "tokens"/, { tokenPath: "tokens", tokens: true });
  });
});
