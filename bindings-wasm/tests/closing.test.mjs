// A close with a silent server ends by its own deadline, and reports how many contenders it has left.

import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";

import zookeeper from "node-zookeeper-client";
import { createClient } from "redis";

import { CleanupIncomplete, connect, fromZooKeeper } from "../dist/index.js";
import { REDIS_PEERS, given, reaching } from "./peers.mjs";
import { address, unique, within } from "./servers.mjs";
import { relay } from "./support/relay.mjs";

/** The lease and the session last longer than a test waits, so that only the deadline of 5 s can end the close. */
const LASTS = 60_000;

const rows = (make) => REDIS_PEERS.map((peer) => [peer, (t, at) => make(t, peer, at)]);
const named = ({ package: name, age }) => `${name}, ${age} version`;

const WAYS = {
  "redis://": ["FENCEPOST_REDIS", (_t, at) => connect(`redis://${at}`)],
  ...Object.fromEntries(
    rows(reaching).map(([peer, make]) => [`${named(peer)}, by address`, ["FENCEPOST_REDIS", make]]),
  ),
  ...Object.fromEntries(rows(given).map(([peer, make]) => [`${named(peer)}, given`, ["FENCEPOST_REDIS", make]])),
  "zk://": ["FENCEPOST_ZOOKEEPER", (_t, at) => connect(`zk://${at}/js-closing?session_timeout=${LASTS}`)],
  "node-zookeeper-client, given": [
    "FENCEPOST_ZOOKEEPER",
    async (t, at) => {
      const own = zookeeper.createClient(at, { sessionTimeout: LASTS });
      // The client is given before it has a session, so that the session's age is known.
      own.connect();
      const client = fromZooKeeper(own, { prefix: "/js-closing" });
      t.after(() => own.connectionManager.socket.destroy());
      t.after(() => own.close());
      await once(own, "connected");
      return client;
    },
  ],
};

describe("closing over a silent server", { concurrency: true }, () => {
  for (const [way, [variable, make]] of Object.entries(WAYS)) {
    test(way, async (t) => {
      const between = await relay(t, address(variable));
      const client = await make(t, between.address);
      const options = variable === "FENCEPOST_REDIS" ? { ttl: LASTS } : {};
      const name = unique("silent");
      await within(client.lock(name, options).acquire(), "the grant");
      between.mute(true);
      between.silence();
      const error = await within(
        client.close().catch((error) => error),
        "the end",
      );
      assert.ok(error instanceof CleanupIncomplete, String(error));
      assert.equal(error.count, 1);
      if (variable === "FENCEPOST_REDIS") {
        const operator = await createClient({ url: `redis://${address(variable)}` }).connect();
        t.after(() => operator.destroy());
        assert.equal(await operator.exists(name), 1);
        await operator.del([name, `{${name}}:fence`]);
      }
    });
  }
});
