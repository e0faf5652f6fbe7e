// Two thousand contenders at once acquire, wait and hold during a restart of the server, and are closed; and three
// thousand replies arrive in one read.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import zookeeper from "node-zookeeper-client";

import { connect, fromZooKeeper } from "../dist/index.js";
import { address, control, unique, within } from "./servers.mjs";

const CROWD = 2000;
const LONG = 240_000;

/** A session that outlives a restart. */
const ZOOKEEPER = () => `zk://${address("FENCEPOST_ZOOKEEPER")}/js-crowd?session_timeout=120000`;
const REDIS = () => `redis://${address("FENCEPOST_REDIS")}`;

const WAYS = {
  "zk:": async () => connect(ZOOKEEPER()),
  "zk: on a client of one's own": async (t) => {
    const own = zookeeper.createClient(address("FENCEPOST_ZOOKEEPER"), { sessionTimeout: 120_000 });
    own.connect();
    t.after(() => own.close());
    return fromZooKeeper(own, { prefix: "/js-crowd" });
  },
  "redis:": async () => connect(REDIS()),
};

/**
 * Releases a lock. After a restart with thousands of waiters, the server may need longer than a release waits: then the
 * client continues the release in the background.
 */
const release = (grant) => grant.release().catch((error) => assert.equal(error.code, 501, String(error)));

const crowd = (each) => Promise.all(Array.from({ length: CROWD }, (_, index) => each(index)));

for (const [way, make] of Object.entries(WAYS)) {
  test(`${way} acquires of ${CROWD} names in a burst, and a close over all of them`, async (t) => {
    const client = await make(t);
    const name = unique("burst");
    const grants = await within(
      crowd((index) => client.lock(`${name}-${index}`).acquire()),
      "the grants",
      LONG,
    );
    assert.equal(new Set(grants.map(({ name }) => name)).size, CROWD);
    assert.ok(grants.every(({ isValid }) => isValid));
    await within(client.close(), "the end", LONG);
    const other = await make(t);
    const again = await within(other.lock(`${name}-${CROWD - 1}`).acquire(), "a lock that was closed");
    assert.ok(again);
    await again.release();
    await other.close();
  });
}

for (const [way, make] of Object.entries(WAYS).filter(([way]) => way.startsWith("zk:"))) {
  test(`${way} ${CROWD} wait in a line through a restart, and each has its turn`, async (t) => {
    const [client, looker] = [await make(t), await connect(ZOOKEEPER())];
    t.after(() => Promise.all([client.close(), looker.close()]));
    const lock = client.lock(unique("line"));
    const first = await within(lock.acquire(), "the first grant");
    let [inside, most, turns] = [0, 0, 0];
    const all = crowd(async () => {
      const grant = await lock.acquire();
      inside += 1;
      most = Math.max(most, inside);
      turns += 1;
      await Promise.resolve();
      inside -= 1;
      await release(grant);
    });
    const end = performance.now() + LONG;
    while ((await looker.lock(lock.name).contenders()).length <= CROWD) {
      assert.ok(performance.now() < end, "not all are in the line");
    }
    await control("restart zookeeper");
    await within(release(first), "the release", LONG);
    await within(all, "all turns", LONG);
    assert.deepEqual([turns, most], [CROWD, 1]);
  });

  test(`${way} ${CROWD} are held through a restart`, async (t) => {
    const client = await make(t);
    t.after(() => client.close());
    const name = unique("held");
    const grants = await within(
      crowd((index) => client.lock(`${name}-${index}`).acquire()),
      "the grants",
      LONG,
    );
    await control("restart zookeeper");
    const end = performance.now() + LONG;
    while (!grants.every(({ isValid }) => isValid)) {
      const lost = grants.filter(({ signal }) => signal.aborted).length;
      assert.equal(lost, 0, "lost");
      assert.ok(performance.now() < end, "not all are valid again");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await within(Promise.all(grants.map(release)), "the releases", LONG);
  });
}

test(`redis: ${CROWD} are held while all connections end`, async (t) => {
  const proxy = await control("proxy redis-1");
  t.after(() => control(`proxy-close ${proxy.id}`));
  const client = await connect(`redis://${proxy.address}`);
  t.after(() => client.close());
  const name = unique("held");
  const grants = await within(
    crowd((index) => client.lock(`${name}-${index}`, { ttl: 60_000 }).acquire()),
    "the grants",
    LONG,
  );
  await control(`proxy-cut ${proxy.id}`);
  await control(`proxy-heal ${proxy.id}`);
  await within(Promise.all(grants.map((grant) => grant.extend())), "the extensions", LONG);
  assert.ok(grants.every(({ isValid }) => isValid));
  await within(Promise.all(grants.map((grant) => grant.release())), "the releases", LONG);
});

test(`redis: ${CROWD} wait for one lock, and closing gives up all of them`, async (t) => {
  const client = await connect(REDIS());
  const holder = await connect(REDIS());
  t.after(() => holder.close());
  const name = unique("line");
  // The many contenders keep this process busy, and delay its renewals.
  const grant = await holder.lock(name, { ttl: 60_000 }).acquire();
  const all = crowd(() =>
    client
      .lock(name, { poll: 2000 })
      .acquire()
      .then(
        () => "granted",
        (error) => error.kind,
      ),
  );
  await new Promise((resolve) => setTimeout(resolve, 500));
  await within(client.close(), "the end", LONG);
  assert.deepEqual([...new Set(await all)], ["client-closed"]);
  await grant.release();
});

test("zk: thousands of answers in one read need no more of the stack than one", async () => {
  const program = fileURLToPath(new URL("programs/one-read.mjs", import.meta.url));
  // Less than the default of Node.js, where the size of a call depends on the functions that are already compiled.
  const run = ["--stack-size=600", program, address("FENCEPOST_ZOOKEEPER"), `/${unique("one-read")}`];
  const { stdout } = await promisify(execFile)(process.execPath, run, { timeout: 240_000 });
  assert.equal(stdout, "released 3000\n");
});
