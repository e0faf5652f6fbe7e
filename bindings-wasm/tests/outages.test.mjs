// The reason of a refusal is the present outage, and never an earlier one that is over.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";

import { Refused, fromRedis } from "../dist/index.js";
import { REDIS_PEERS, given, reaching } from "./peers.mjs";
import { address, unique, within } from "./servers.mjs";
import { relay } from "./support/relay.mjs";

const NOWHERE = "127.0.0.1:1";

/** The refusal of a try. */
async function refusal(lock, kind = "unreachable") {
  const error = await within(
    lock.tryAcquire().catch((reason) => reason),
    "the refusal",
  );
  assert.ok(error instanceof Refused && error.kind === kind, String(error));
  return error;
}

/** Acquires as soon as the server replies again. */
async function recovered(lock) {
  for (const end = performance.now() + 90_000; ;) {
    try {
      return await lock.acquire();
    } catch (error) {
      assert.ok(performance.now() < end, String(error));
    }
  }
}

// Each test waits some seconds until the client detects a silent server.
describe("outages", { concurrency: true }, () => {
  for (const peer of REDIS_PEERS) {
    for (const [way, make] of Object.entries({ "by address": reaching, "given": given })) {
      test(`${peer.as}, ${way}: a silent server is not one that has refused connections earlier`, async (t) => {
        const between = await relay(t, address("FENCEPOST_REDIS"));
        const client = await make(t, peer, between.address);
        const lock = client.lock(unique("outage"), { answerWithin: 700 });
        await (await recovered(lock)).release();
        between.lead(NOWHERE);
        between.end();
        const first = await refusal(lock);
        between.lead(address("FENCEPOST_REDIS"));
        await (await recovered(lock)).release();
        between.silence();
        between.mute(true);
        const second = await refusal(lock);
        assert.notEqual(second.cause, first.cause);
        assert.doesNotMatch(second.message, /ECONNREFUSED|closed|connecting/i);
      });
    }
  }
});

for (const peer of REDIS_PEERS.filter(({ package: name }) => name === "redis")) {
  test(`${peer.as}: a client that was never connected says so, and has no other cause`, async (t) => {
    const [own] = peer.begin(NOWHERE);
    own.destroy();
    const never = own.duplicate();
    const client = fromRedis(never);
    t.after(() => client.close());
    const { cause } = await refusal(client.lock("stock"), "connection-closed");
    assert.match(cause.message, /connect\(\) first/);
    assert.doesNotMatch(inspect(cause), /cause/);
  });
}
