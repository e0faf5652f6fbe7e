// Redis Sentinel with the program's own client of ioredis: which sentinels the driver's own connections ask, and that
// no connections are left.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

import { createClient } from "redis";

import { Refused, fromRedis } from "../dist/index.js";
import { REDIS_PEERS } from "./peers.mjs";
import { address, unique, within } from "./servers.mjs";
import { withSentinel } from "./support/redis-processes.mjs";
import { relay } from "./support/relay.mjs";

const IOREDIS = REDIS_PEERS.filter((peer) => peer.package === "ioredis");

/** Nothing listens there. */
const NOWHERE = { host: "127.0.0.1", port: 1 };

const text = ({ host, port }) => `${host}:${port}`;

function place(at) {
  const [host, port] = at.split(":");
  return { host, port: Number(port) };
}

/** A program's client. It connects when the test requests it. */
async function own(t, peer, sentinels, options) {
  const { Redis = (await import(peer.as)).default } = await import(peer.as);
  const client = new Redis({ sentinels, name: "stock", lazyConnect: true, ...options });
  client.on("error", () => undefined);
  t.after(() => client.disconnect());
  return client;
}

function on(t, client, options) {
  const made = fromRedis(client, options);
  t.after(() => made.close().catch(() => undefined));
  return made;
}

async function cycle(client, name = unique("sentinels")) {
  const grant = await within(client.lock(name).acquire(), "the grant");
  await grant.release();
}

async function until(what, ask) {
  const end = performance.now() + 90_000;
  while (!(await ask())) {
    assert.ok(performance.now() < end, `${what} has not come`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Sentinels that accept connections and never reply. */
async function silent(t, sentinel, count) {
  const relays = await Promise.all(Array.from({ length: count }, () => relay(t, text(sentinel))));
  for (const one of relays) {
    one.mute(true);
  }
  return relays;
}

for (const peer of IOREDIS) {
  for (const count of [1, 4]) {
    test(`${peer.as}: behind ${count} silent, the next sentinel is asked, and no connection is left`, (t) =>
      withSentinel(address("FENCEPOST_REDIS"), async (sentinel) => {
        const relays = await silent(t, sentinel, count);
        const sentinels = [...relays.map((one) => place(one.address)), sentinel];
        const client = on(t, await own(t, peer, sentinels), { connectTimeout: 30_000 });
        await cycle(client);
        await client.close();
        await until("the end of the connections", () => relays.every(({ open }) => open === 0));
      }));
  }

  test(`${peer.as}: if the only sentinel is silent, no connection to it is left`, (t) =>
    withSentinel(address("FENCEPOST_REDIS"), async (sentinel) => {
      const [mute] = await silent(t, sentinel, 1);
      const client = on(t, await own(t, peer, [place(mute.address)]), { connectTimeout: 500 });
      await assert.rejects(client.lock("x").acquire(), (error) => {
        assert.ok(error instanceof Refused && error.kind === "unreachable", String(error));
        return true;
      });
      await client.close();
      assert.ok(mute.accepted > 0);
      await until("the end of the connections", () => mute.open === 0);
    }));

  test(`${peer.as}: a sentinel that the program's client has found is asked, too`, (t) =>
    withSentinel(address("FENCEPOST_REDIS"), (first, operator) =>
      withSentinel(address("FENCEPOST_REDIS"), async () => {
        await until("the second sentinel", async () => {
          const others = await operator.sendCommand(["SENTINEL", "SENTINELS", "stock"]);
          return others.length === 1 && !JSON.stringify(others).includes("disconnected");
        });
        const between = await relay(t, text(first));
        const given = await own(t, peer, [place(between.address)]);
        await given.connect();
        between.lead(text(NOWHERE));
        await cycle(on(t, given));
      }),
    ));

  test(`${peer.as}: with failoverDetector, lost connections leave none to sentinels`, async (t) => {
    const between = await relay(t, address("FENCEPOST_REDIS"));
    await withSentinel(between.address, async (sentinel) => {
      const watched = await relay(t, text(sentinel));
      const client = on(t, await own(t, peer, [place(watched.address)], { failoverDetector: true }));
      for (let time = 0; time < 3; time++) {
        await cycle(client);
        between.end();
      }
      await client.close();
      await until("the end of the connections", () => watched.open === 0);
    });
  });

  test(`${peer.as}: with failoverDetector, locks go where the program's client goes`, (t) =>
    withSentinel(address("FENCEPOST_REDIS"), async (sentinel, operator) => {
      const given = await own(t, peer, [sentinel], { failoverDetector: true, sentinelRetryStrategy: () => 20 });
      await given.connect();
      const client = on(t, given);
      await cycle(client);
      const [host, port] = address("FENCEPOST_REDIS_2").split(":");
      await operator.sendCommand(["SENTINEL", "REMOVE", "stock"]);
      await operator.sendCommand(["SENTINEL", "MONITOR", "stock", host, port, "1"]);
      // What ioredis does when a sentinel reports a failover.
      given.disconnect(true);
      await once(given, "ready");
      const there = await createClient({ url: `redis://${address("FENCEPOST_REDIS_2")}` }).connect();
      t.after(() => there.destroy());
      const name = unique("moved");
      const grant = await within(client.lock(name).acquire(), "the grant");
      assert.equal(await there.exists(name), 1);
      await grant.release();
    }));

  test(`${peer.as}: a process ends after a close, however late ioredis asks its sentinels again`, async () => {
    const program = `
      import * as ioredis from "${peer.as}";
      import { fromRedis } from "./dist/index.js";
      const options = { sentinels: [${JSON.stringify(NOWHERE)}], name: "stock", lazyConnect: true };
      const own = new (ioredis.Redis ?? ioredis.default)({ ...options, sentinelRetryStrategy: () => 3_600_000 });
      const client = fromRedis(own, { connectTimeout: 200 });
      await client.lock("x").acquire().catch((error) => console.log(error.kind));
      await client.close();
      own.disconnect();`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: new URL("..", import.meta.url),
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.on("data", (data) => (said += data));
    try {
      assert.deepEqual(await within(once(child, "close"), "the end of the process", 30_000), [0, null]);
    } finally {
      child.kill("SIGKILL");
    }
    assert.equal(said, "unreachable\n");
  });
}
