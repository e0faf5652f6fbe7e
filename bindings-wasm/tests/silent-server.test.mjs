// ZooKeeper servers that become silent without closing their connections: the client uses another server of the
// address, and no grant is lost.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import zookeeper from "node-zookeeper-client";

import { connect, fromZooKeeper } from "../dist/index.js";
import { address, unique, within } from "./servers.mjs";
import { relay } from "./support/relay.mjs";

const SESSION = 15_000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until the session of a grant is confirmed once more. */
async function proved(grant) {
  const end = performance.now() + 90_000;
  for (let before = grant.remaining; ; await pause(2)) {
    const { remaining } = grant;
    if (remaining > before) {
      return;
    }
    assert.ok(performance.now() < end, "no proof has come");
    before = remaining;
  }
}

/** Two servers. The one to which the client is connected becomes silent `after` ms after a confirmation. */
async function fallsSilent(t, after) {
  const at = address("FENCEPOST_ZOOKEEPER");
  const relays = [await relay(t, at), await relay(t, at)];
  const hosts = relays.map((one) => one.address).join(",");
  const client = await connect(`zk://${hosts}/js-silent?session_timeout=${SESSION}`);
  const other = await connect(`zk://${at}/js-silent?session_timeout=${SESSION}`);
  t.after(() => Promise.all([client.close(), other.close()]));
  const [ours, theirs] = [unique("ours"), unique("theirs")];
  const grant = await within(client.lock(ours).acquire(), "the grant");
  // The same client waits for another lock, with a watch.
  const held = await within(other.lock(theirs).acquire(), "the grant of the other client");
  const waiting = client.lock(theirs).acquire();
  waiting.catch(() => undefined);
  const [silent, next] = relays[0].accepted > 0 ? relays : relays.toReversed();
  assert.deepEqual([silent.accepted, next.accepted], [1, 0]);
  await proved(grant);
  await pause(after);
  silent.mute(true);
  silent.silence();
  const lost = await Promise.race([grant.lost, pause((3 / 2) * SESSION)]);
  assert.equal(lost, undefined, `${after} ms: ${lost}`);
  assert.ok(grant.isValid);
  // The client did not connect to the silent server again.
  assert.deepEqual([silent.accepted, next.accepted], [1, 1]);
  assert.equal(await other.lock(ours).tryAcquire(), null);
  await held.release();
  await (await within(waiting, "the other lock")).release();
  await grant.release();
  const free = await other.lock(ours).tryAcquire();
  assert.ok(free);
  await free.release();
}

// The time between two confirmations is a third of the session's timeout.
const PHASES = [0, 2400, 4650];

test("a server that falls silent costs no grant", (t) =>
  Promise.all(PHASES.map((after) => fallsSilent(t, after))).then(() => undefined));

test("a connection of the caller's is left as it is when its server is silent", async (t) => {
  const between = await relay(t, address("FENCEPOST_ZOOKEEPER"));
  const own = zookeeper.createClient(between.address, { sessionTimeout: SESSION });
  own.connect();
  t.after(() => own.close());
  await once(own, "connected");
  const { socket } = own.connectionManager;
  const { Session } = await import("../dist/drivers/zookeeper/session.js");
  const states = [];
  const listener = { connected: () => states.push("connected"), suspended: () => states.push("suspended") };
  const session = new Session(own, false, [], listener);
  t.after(() => session.close());
  session.send({ id: 1, key: 0, operation: "reconnect", path: "", data: new Uint8Array(), flags: 0, parts: [] });
  await pause(50);
  assert.equal(socket.destroyed, false);
  assert.deepEqual(states, ["connected"]);
  const client = fromZooKeeper(own, { prefix: "/js-silent" });
  t.after(() => client.close());
  await (await within(client.lock(unique("given")).acquire(), "the grant")).release();
});
