// A close over a server that has fallen silent ends in the time that it promises, and says what it has left.

import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";

import zookeeper from "node-zookeeper-client";
import { createClient } from "redis";

import { CleanupIncomplete, connect, fromZooKeeper } from "../dist/index.js";
import { REDIS_PEERS, given, reaching } from "./peers.mjs";
import { address, unique, within } from "./servers.mjs";
import { relay } from "./support/relay.mjs";

/** A close promises 5 s; what comes on top is for a busy machine. */
const PROMISED = 5800;

const rows = (make) => REDIS_PEERS.map((peer) => [peer, (t, at) => make(t, peer, at)]);
const named = ({ package: name, age }) => `${name}, ${age} version`;

const WAYS = {
  "redis://": ["FENCEPOST_REDIS", (_t, at) => connect(`redis://${at}`)],
  ...Object.fromEntries(
    rows(reaching).map(([peer, make]) => [`${named(peer)}, by address`, ["FENCEPOST_REDIS", make]]),
  ),
  ...Object.fromEntries(rows(given).map(([peer, make]) => [`${named(peer)}, given`, ["FENCEPOST_REDIS", make]])),
  "zk://": ["FENCEPOST_ZOOKEEPER", (_t, at) => connect(`zk://${at}/js-closing?session_timeout=60000`)],
  "node-zookeeper-client, given": [
    "FENCEPOST_ZOOKEEPER",
    async (t, at) => {
      const own = zookeeper.createClient(at, { sessionTimeout: 60_000 });
      // Before it has a session, so that nothing has to be proved.
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
      const options = variable === "FENCEPOST_REDIS" ? { ttl: 60_000 } : {};
      const name = unique("silent");
      await within(client.lock(name, options).acquire(), "the grant");
      between.mute(true);
      between.silence();
      // Both clocks stand still together when the machine does.
      const late = new Promise((resolve) => setTimeout(resolve, PROMISED, "late"));
      const ended = client.close().catch((error) => error);
      const told = await Promise.race([ended, late]);
      assert.ok(told instanceof CleanupIncomplete, String(told));
      assert.equal(told.count, 1);
      if (variable === "FENCEPOST_REDIS") {
        const operator = await createClient({ url: `redis://${address(variable)}` }).connect();
        t.after(() => operator.destroy());
        assert.equal(await operator.exists(name), 1);
        await operator.del([name, `{${name}}:fence`]);
      }
    });
  }
});
