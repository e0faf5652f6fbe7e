// A proxy, or a server of another kind, may send replies that no script returns. The tested servers do not: a fake
// library sends them instead.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";

import { CleanupIncomplete, MisuseError, Refused } from "../dist/index.js";
import { Client } from "../dist/client/client.js";
import { RedisDriver } from "../dist/drivers/redis/driver.js";

function answering(value) {
  const session = { ready: true, call: () => Promise.resolve(value), end: () => undefined };
  return new Client(
    new RedisDriver({
      open: () => ({ session: Promise.resolve(session), end: () => undefined }),
      classifyError: () => ({ failure: "unknown" }),
    }),
  );
}

describe("a reply that fits no command", { concurrency: false }, () => {
  const closings = [];
  for (const value of ["OK", 5, [], ["1"], { a: 1 }, Symbol("no value")]) {
    it(`${typeof value} ${String(value)}`, async () => {
      const client = answering(value);
      await assert.rejects(client.lock("stock/42").acquire({ timeout: 300 }), (error) => {
        assert.ok(error instanceof Refused, String(error));
        assert.ok(error.cause instanceof MisuseError, String(error.cause));
        return true;
      });
      // The client cannot know whether it has the lock, and no notice comes.
      closings.push(assert.rejects(client.close(), CleanupIncomplete));
    });
  }
  after(() => Promise.all(closings));
});
