// Request numbers on ZooKeeper: a server identifies the replies to writes by the session and the request's number, so a
// connection that continues a session also continues its numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import zookeeper from "node-zookeeper-client";

import { connect, fromZooKeeper } from "../dist/index.js";
import { address, unique, within } from "./servers.mjs";
import { relay } from "./support/relay.mjs";

const SESSION = 60_000;

const WAYS = {
  "by address": (_t, at) => connect(`zk://${at}/js-numbers?session_timeout=${SESSION}`),
  "on a client of one's own": (t, at) => {
    const own = zookeeper.createClient(at, { sessionTimeout: SESSION, spinDelay: 10 });
    own.connect();
    t.after(() => own.close());
    return fromZooKeeper(own, { prefix: "/js-numbers" });
  },
};

/**
 * The numbers of the requests on a connection after its handshake. Those of pings and of the library's own requests are
 * negative, and are left out.
 */
function numbers(bytes) {
  const found = [];
  for (let at = 4 + bytes.readInt32BE(0); at + 8 <= bytes.length; at += 4 + bytes.readInt32BE(at)) {
    found.push(bytes.readInt32BE(at + 4));
  }
  return found.filter((number) => number >= 0);
}

/**
 * The session that a handshake requests: it comes after the length, the version, the last transaction and the timeout.
 */
const sessionOf = (bytes) => bytes.readBigInt64BE(4 + 4 + 8 + 4);

for (const [way, make] of Object.entries(WAYS)) {
  test(`${way}: request numbers go on when a session is connected again`, async (t) => {
    const between = await relay(t, address("FENCEPOST_ZOOKEEPER"));
    const client = await make(t, between.address);
    t.after(() => client.close());
    const lock = client.lock(unique("numbers"));
    const grant = await within(lock.acquire(), "the grant");
    for (let cut = 1; cut <= 3; cut++) {
      const before = between.accepted;
      between.end();
      // A reply that was already sent when the connection ended is enough for one extension.
      do await within(grant.extend(), "the extension");
      while (between.accepted === before);
    }
    await within(grant.release(), "the release");
    const connections = between.asked.filter((bytes) => bytes.length > 44);
    const session = sessionOf(connections[1]);
    assert.notEqual(session, 0n);
    assert.deepEqual(
      connections.slice(1).map(sessionOf),
      connections.slice(1).map(() => session),
    );
    const all = connections.map(numbers);
    assert.ok(all.filter((some) => some.length > 0).length >= 4, JSON.stringify(all));
    const inOrder = all.flat();
    assert.deepEqual(
      inOrder,
      [...new Set(inOrder)].sort((a, b) => a - b),
    );
  });
}
