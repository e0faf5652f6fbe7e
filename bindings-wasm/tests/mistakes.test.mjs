// Programming errors end every call of a client at once, with the first error as the cause: errors of the core, of a
// client library, or of the stack.

import assert from "node:assert/strict";
import { test } from "node:test";

import zookeeper from "node-zookeeper-client";

import { LockLost, connect, fromZooKeeper } from "../dist/index.js";
import { address, backends, unique, within } from "./servers.mjs";

/** The state of the library's connection manager. */
const CONNECTED = 2;

const mistake = (text) => (error) => {
  assert.equal(error.code, 506, String(error));
  assert.match(error.cause.message, text);
  return true;
};

/** Waits until a grant is lost because of the mistake. */
async function lostBy(text, grant) {
  const lost = await within(grant.lost, "the loss");
  assert.ok(lost instanceof LockLost);
  assert.ok(mistake(text)(lost.cause));
  assert.equal(grant.isValid, false);
  await assert.rejects(grant.release(), LockLost);
}

test("zk: a mistake outside of an answer ends every call, and grants", async (t) => {
  const own = zookeeper.createClient(address("FENCEPOST_ZOOKEEPER"), { sessionTimeout: 20_000 });
  own.connect();
  t.after(() => own.close());
  const client = fromZooKeeper(own, { prefix: "/js-mistakes" });
  const name = unique("state");
  const grant = await within(client.lock(name).acquire(), "the grant");
  const text = /timeout is "soon"/;
  const waiting = assert.rejects(within(client.lock(name).acquire(), "the mistake"), mistake(text));
  // As an untested version of the library may do: it has the session's timeout in another form.
  const manager = own.connectionManager;
  const { sessionTimeout } = manager;
  let connections = 0;
  own.on("connected", () => (connections += 1));
  const get = () => (manager.state === CONNECTED ? "soon" : sessionTimeout);
  const set = (timeout) => assert.ok(timeout > 0);
  Object.defineProperty(manager, "sessionTimeout", { get, set });
  manager.socket.destroy();
  await waiting;
  await lostBy(text, grant);
  assert.throws(() => client.lock(name), mistake(text));
  await assert.rejects(within(client.close(), "the end"), mistake(text));
  assert.equal(connections, 1);
});

for (const [backend, url] of Object.entries(backends)) {
  test(`${backend} a core without memory says so, and ends every call`, async (t) => {
    const family = backend.startsWith("redis") ? "redis" : "zookeeper";
    const { RawHub, initSync } = await import(`../dist/hub/glue/fencepost_${family}.js`);
    const client = await connect(url());
    const [held, other] = [unique("panic"), unique("panic")];
    const next = client.lock(other);
    const grant = await within(client.lock(held).acquire(), "the grant");
    const text = /^fencepost's core has failed: there is no memory for 1073741824 bytes$/;
    const waiting = assert.rejects(within(client.lock(held).acquire(), "the end of an acquire"), mistake(text));
    const wasm = initSync();
    const most = 65_536;
    wasm.memory.grow(most - wasm.memory.buffer.byteLength / 65_536);
    const { tryAcquire } = RawHub.prototype;
    t.after(() => Object.assign(RawHub.prototype, { tryAcquire }));
    RawHub.prototype.tryAcquire = function () {
      wasm.rawhub_new(0, 1 << 30, 0);
    };
    await assert.rejects(within(next.tryAcquire(), "the panic"), mistake(text));
    await waiting;
    await lostBy(text, grant);
    await assert.rejects(next.acquire(), mistake(text));
    assert.throws(() => client.lock(other), mistake(text));
    await assert.rejects(within(client.close(), "the end"), mistake(text));
  });
}
