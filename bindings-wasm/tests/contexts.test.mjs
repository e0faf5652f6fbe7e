// Async contexts: the clients in a server program serve many requests, and each request may have its own store.

import assert from "node:assert/strict";
import { AsyncLocalStorage, createHook } from "node:async_hooks";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";

import { connect } from "../dist/index.js";
import { connect as connectByIoRedis } from "../dist/entries/ioredis.js";
import { backends, unique, within } from "./servers.mjs";

const libraries = [
  ...Object.entries(backends).map(([server, url]) => [server, connect, url]),
  ["redis: by ioredis", connectByIoRedis, backends["redis:"]],
];

const request = new AsyncLocalStorage();

/** Resolves with the store in which a listener of the signal runs. */
const heard = ({ signal }) =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(request.getStore()), { once: true }));

async function use(client) {
  const grant = await client.lock(unique("first")).acquire();
  await grant.release();
}

for (const [server, connectTo, url] of libraries.slice(1)) {
  test(`${server} a listener runs in the context of its grant, if another request breaks the lock`, async (t) => {
    const [client, operator] = await request.run("the first request", async () => {
      const both = [await connectTo(url()), await connectTo(url())];
      await Promise.all(both.map(use));
      return both;
    });
    t.after(() => Promise.all([client.close(), operator.close()]));
    const [name, options] = [unique("contexts"), server.startsWith("redis:") ? { ttl: 9000 } : undefined];
    await request.run("the holder's request", async () => {
      const grant = await client.lock(name, options).acquire();
      const store = heard(grant);
      const lock = operator.lock(name, options);
      await request.run("the operator's request", async () => lock.breakContender((await lock.contenders())[0]));
      assert.equal(await within(store, "the loss"), "the holder's request");
      assert.equal(request.getStore(), "the holder's request");
    });
  });
}

for (const [server, connectTo, url] of libraries) {
  test(`${server} a listener runs in the context of its grant, if the client is closed`, async () => {
    const client = await connectTo(url());
    const acquired = request.run("the holder's request", async () => {
      const grant = await client.lock(unique("contexts")).acquire();
      return { grant, store: heard(grant) };
    });
    const { grant, store } = await acquired;
    await request.run("the end of the program", () => client.close());
    assert.equal(await within(store, "the loss"), "the holder's request");
    assert.equal(grant.isValid, false);
  });

  test(`${server} a client does not keep the store of the request that made it`, async (t) => {
    let client;
    const store = await (async () => {
      const data = { of: "a request" };
      await request.run(data, async () => {
        client = await connectTo(url());
        await use(client);
      });
      return new WeakRef(data);
    })();
    t.after(() => client.close());
    await within(
      (async () => {
        while (store.deref() !== undefined) {
          await setImmediate();
          globalThis.gc();
        }
      })(),
      "the end of the store",
    );
  });
}

test("Jest's search for open handles finds none in a context", async (t) => {
  const client = await connect("memory:");
  t.after(() => client.close());
  const grant = await client.lock("contexts").acquire();
  const made = [];
  // As Jest does: it treats a resource as open unless its `hasRef` returns false.
  const hook = createHook({ init: (_id, type, _trigger, resource) => made.push([type, resource]) }).enable();
  assert.equal(grant.signal.aborted, false);
  hook.disable();
  assert.deepEqual(
    made.map(([, resource]) => resource.hasRef?.()),
    [false],
  );
  await grant.release();
});
