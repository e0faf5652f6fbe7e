// Control over `memory:NAME`: the effects on clients.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { ConfigError, LockLost, MisuseError, connect, memoryServer } from "../dist/index.js";
import { within } from "./servers.mjs";

async function pair(t) {
  const address = `memory:${randomUUID()}`;
  const [server, holder, other] = [await memoryServer(address), await connect(address), await connect(address)];
  t.after(() => Promise.all([holder.close(), other.close()]));
  return { address, server, holder, other, session: server.session(holder) };
}

test("an expired session passes the lock on", async (t) => {
  const { holder, other, session } = await pair(t);
  const grant = await holder.lock("stock").acquire();
  const before = session.id;
  const waiting = other.lock("stock").acquire();
  session.expire();
  const lost = await grant.lost;
  assert.ok(lost instanceof LockLost);
  assert.equal(lost.kind, "session-expired");
  const next = await waiting;
  assert.ok(next.fence > grant.fence);
  assert.notEqual(session.id, before);
  assert.equal(session.state, "connected");
  await next.release();
});

test("a suspended client keeps its grant", async (t) => {
  const { holder, other, session } = await pair(t);
  const grant = await holder.lock("stock").acquire();
  session.suspend();
  assert.equal(session.state, "suspended");
  assert.equal(await other.lock("stock").tryAcquire(), null);
  session.reconnect();
  await grant.release();
  session.suspend();
  session.expire();
  assert.equal(session.state, "expired");
  session.reconnect();
  await (await holder.lock("stock").acquire()).release();
});

test("a paused holder believes in its grant", async (t) => {
  const { holder, other, session } = await pair(t);
  const late = await holder.lock("stock").acquire();
  session.pause();
  session.expire();
  assert.deepEqual([session.state, session.paused], ["expired", true]);
  const next = await other.lock("stock").acquire();
  assert.ok(late.isValid && late.fence < next.fence);
  session.resume();
  assert.equal((await late.lost).kind, "session-expired");
  await next.release();
});

test("a paused client closes", async (t) => {
  const { address, server, other } = await pair(t);
  const client = await connect(address);
  await client.lock("stock").acquire();
  const session = server.session(client);
  session.pause();
  await client.close();
  await (await other.lock("stock").acquire()).release();
  for (const member of ["id", "state", "paused"]) {
    assert.throws(() => session[member], MisuseError);
  }
  for (const control of ["expire", "suspend", "reconnect", "pause", "resume"]) {
    assert.throws(() => session[control](), { name: "MisuseError", kind: "client-closed" });
  }
  assert.throws(() => server.session(client), MisuseError);
  assert.equal(server.sessions().length, 2);
});

test("the options of the servers that it stands for are taken", async (t) => {
  const { address, server } = await pair(t);
  const acl = [{ permissions: 31, scheme: "world", id: "anyone" }];
  const client = await connect(`${address}?session_timeout=300`, { acl });
  const grant = await client.lock("stock").acquire();
  const session = server.session(client);
  session.suspend();
  assert.equal((await within(grant.lost, "the loss")).kind, "lease-ended");
  session.reconnect();
  await client.close();
  await assert.rejects(connect(address, { acl: 1 }), ConfigError);
});

test("the server reports what it stores, and what was sent", async (t) => {
  const { server, holder, session } = await pair(t);
  server.record(true);
  const grant = await holder.lock("stock").acquire();
  const own = server.nodes().filter(({ hub }) => hub === session.hub);
  assert.equal(own.length, 1);
  await grant.release();
  const created = server.messages().find(({ name }) => name === "created");
  assert.equal(created.hub, session.hub);
  assert.ok(server.messages(created.number).every(({ number }) => number > created.number));
});

test("what is no server or no client of it is refused", async (t) => {
  const { server } = await pair(t);
  for (const url of ["memory:", "memory:a/b", "redis://localhost"]) {
    await assert.rejects(memoryServer(url), { name: "ConfigError", kind: "invalid-url" });
  }
  await assert.rejects(memoryServer(1), ConfigError);
  const other = await connect("memory:");
  t.after(() => other.close());
  assert.throws(() => server.session(other), { name: "ConfigError", kind: "invalid-option" });
  for (const wrong of [undefined, null, 1, "memory:a", {}]) {
    assert.throws(() => server.session(wrong), ConfigError);
  }
});
