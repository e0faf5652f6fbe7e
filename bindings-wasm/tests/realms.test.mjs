// Values of another realm: in a test runner's environment, the errors and the bytes of Node.js have other classes.

import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

import * as copy from "fencepost";
import { idempotent } from "fencepost/web/hono";
import { Hono } from "hono";

import { Client } from "../dist/client/client.js";
import { absent } from "../dist/drivers/packages.js";
import { RedisDriver } from "../dist/drivers/redis/driver.js";
import { classifyError as ioRedisSays } from "../dist/drivers/redis/ioredis.js";
import { isDistrust } from "../dist/drivers/redis/library.js";
import { classifyError as nodeRedisSays } from "../dist/drivers/redis/node-redis.js";
import { isProgramming } from "../dist/engine/causes.js";
import { driverFailed } from "../dist/errors.js";
import { DriverError, FencepostError, LockLost, Refused, connect } from "../dist/index.js";
import { isError } from "../dist/realms.js";
import { within } from "./servers.mjs";

const foreign = (code) => runInNewContext(code);

test("an error of another realm is one, and nothing else is", () => {
  for (const error of [foreign('new TypeError("x")'), new TypeError("x"), new DOMException("x", "AbortError")]) {
    assert.ok(isError(error), String(error));
  }
  for (const value of [foreign('({ name: "Error", message: "x" })'), "Error", null, undefined, 7]) {
    assert.ok(!isError(value), String(value));
  }
});

test("a foreign error for a package that is not installed counts as one", () => {
  assert.equal(absent(foreign(`new Error("Cannot find module 'redis'")`)), null);
  assert.equal(absent(foreign(`Object.assign(new Error(""), { code: "MODULE_NOT_FOUND" })`)), null);
});

test("foreign errors of certificates, of mistakes and of the libraries are recognised", () => {
  assert.ok(isDistrust(foreign('Object.assign(new Error("x"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" })')));
  assert.ok(isProgramming(foreign('new TypeError("x")')));
  assert.ok(!isProgramming(foreign('new Error("x")')));
  const reply = foreign('Object.assign(new Error("ERR x"), { name: "ReplyError" })');
  assert.deepEqual(ioRedisSays(reply), { reply });
  assert.deepEqual(nodeRedisSays(foreign("class ClientOfflineError extends Error {} new ClientOfflineError()")), {
    failure: "not-sent",
  });
});

test("a foreign error as the cause is said in texts and logs", () => {
  const cause = foreign('new TypeError("no such method")');
  assert.match(driverFailed(cause).message, /\(TypeError: no such method\)/);
  const { cause: logged } = new FencepostError(1, "x", "x", { cause }).toJSON();
  assert.equal(logged, "TypeError: no such method");
});

test("foreign bytes are bytes", async (t) => {
  const client = await connect("memory:");
  t.after(() => client.close());
  const claim = await client.idempotency("realms").claim("bytes", { fingerprint: foreign("Uint8Array.of(1)") });
  await claim.complete(foreign("Uint8Array.of(1, 2)"));
  assert.deepEqual([...claim.result], [1, 2]);
});

test("the middleware of another copy of this package understands the errors of a client", async (t) => {
  assert.notEqual(copy.Refused, Refused);
  const client = await connect("memory:");
  t.after(() => client.close());
  const handler = new EventEmitter();
  const [begun, released] = [once(handler, "begun"), once(handler, "go on")];
  const options = { scope: () => "shop-7", secret: ["a secret of this year", "a secret of last year"] };
  const app = new Hono();
  app.use(idempotent(client.idempotency("realms"), options));
  app.post("/", async (c) => {
    handler.emit("begun");
    await released;
    return c.text("paid");
  });
  const post = (body) => app.request("/", { method: "POST", body, headers: { "Idempotency-Key": "order-17" } });
  const first = post("1700 cents");
  await begun;
  const second = await post("1700 cents");
  assert.deepEqual([second.status, Number(second.headers.get("retry-after")) > 0], [409, true]);
  handler.emit("go on");
  assert.equal((await first).status, 200);
  assert.equal((await post("1 cent")).status, 422);
});

for (const [what, error, kind, code] of [
  ["the network's", foreign('new Error("connect ECONNREFUSED")'), Refused, 304],
  ["a certificate's", foreign('Object.assign(new Error("self-signed"), { code: "CERT_X" })'), Refused, 312],
  ["a mistake's", foreign('new TypeError("not a function")'), DriverError, 506],
]) {
  test(`a connection that fails with a foreign error, ${what}: the refusal has the reason`, async (t) => {
    const library = {
      open: () => ({ session: Promise.reject(error), progress: {}, end: () => undefined }),
      classifyError: nodeRedisSays,
    };
    const client = new Client(new RedisDriver(library), { connectTimeout: 300 });
    t.after(() => client.close().catch(() => undefined));
    await assert.rejects(within(client.lock("x").acquire(), "the refusal"), (refusal) => {
      assert.ok(refusal instanceof kind && !(refusal instanceof LockLost), String(refusal));
      assert.equal(refusal.code, code, String(refusal));
      assert.ok(refusal.message.includes(error.message), refusal.message);
      assert.equal(refusal.cause, error);
      return true;
    });
  });
}
