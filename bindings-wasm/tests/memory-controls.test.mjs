// The controls of a memory server, on a hub that a program drives: sessions that end, connections that are cut, pauses,
// and the recording of all messages.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ConfigError, Hub, MemoryServer, Settings } from "../dist/entries/hub.js";

const MUTEX = new Settings({ kind: "zookeeper-mutex", name: "stock" });
const LOCK = "/stock/";

/** A server, and hubs on it, with a logical clock. Nothing is random. */
class World {
  server = new MemoryServer();
  now = 1000;
  contenders = 0;

  client(sessionTimeout) {
    return Hub.memory(this.server, this.now, 1, sessionTimeout);
  }

  acquire(hub) {
    this.contenders += 1;
    const key = hub.open(this.now, MUTEX, new Uint8Array(16).fill(this.contenders), 3);
    hub.acquire(this.now, key);
    return key;
  }

  /** The steps of a program with a hub that is woken, or whose timer is due. */
  events(hub) {
    hub.handleTimeout(this.now);
    const events = [];
    for (let output = hub.poll(); output.type === "event"; output = hub.poll()) {
      events.push(output);
    }
    return events;
  }

  grant(hub) {
    this.acquire(hub);
    return this.events(hub).at(-1).grant;
  }

  /** A hub that holds the lock, its fence, and a hub that waits. */
  pair() {
    const [holder, waiter] = [this.client(), this.client()];
    const { fence } = this.grant(holder);
    this.acquire(waiter);
    this.events(waiter);
    return { holder, fence, waiter };
  }

  session(hub) {
    return this.server.sessions().find(({ hub: id }) => id === hub.id);
  }
}

const names = (events) => events.map(({ event }) => event);

test("an expired holder loses the grant, and the next in line gets it", () => {
  const world = new World();
  const { holder, fence, waiter } = world.pair();
  const before = world.session(holder);
  assert.deepEqual(before, { hub: holder.id, session: 1n, state: "connected", paused: false });
  world.server.expire(holder.id);
  assert.deepEqual(world.server.takeWoken(), [holder.id, waiter.id]);
  const [lost] = world.events(holder);
  assert.deepEqual([lost.event, lost.reason.kind], ["lost", "session-expired"]);
  const [acquired] = world.events(waiter);
  assert.ok(acquired.event === "acquired" && acquired.grant.fence > fence);
  assert.deepEqual(world.session(holder), { ...before, session: 3n });
  assert.deepEqual(world.server.takeWoken(), []);
  world.server.expire(waiter.id);
  assert.deepEqual(names(world.events(waiter)), ["lost"]);
  assert.ok(world.grant(holder).fence > acquired.grant.fence);
});

test("a suspended holder keeps the grant, until its session expires", () => {
  const world = new World();
  const { holder, waiter } = world.pair();
  world.server.suspend(holder.id);
  assert.deepEqual(names(world.events(holder)), ["suspended"]);
  assert.equal(world.session(holder).state, "suspended");
  world.server.reconnect(holder.id);
  assert.deepEqual(names(world.events(holder)), ["resumed"]);
  world.server.suspend(holder.id);
  world.server.expire(holder.id);
  assert.deepEqual(names(world.events(waiter)), ["acquired"]);
  assert.deepEqual(names(world.events(holder)), ["suspended"]);
  assert.equal(world.session(holder).state, "expired");
  world.server.reconnect(holder.id);
  assert.deepEqual(names(world.events(holder)), ["lost"]);
});

test("a session timeout is that of the hub's own lease", () => {
  const world = new World();
  const holder = world.client(900);
  const { validUntil } = world.grant(holder);
  assert.ok(validUntil > world.now && validUntil < world.now + 900);
  world.server.suspend(holder.id);
  world.now += 900;
  const [suspended, lost] = world.events(holder);
  assert.deepEqual([suspended.event, lost.event, lost.reason.kind], ["suspended", "lost", "lease-ended"]);
});

test("a paused holder believes in its grant, until it resumes", () => {
  const world = new World();
  const { holder, fence, waiter } = world.pair();
  world.server.pause(holder.id);
  world.server.expire(holder.id);
  assert.deepEqual(world.session(holder), { hub: holder.id, session: 1n, state: "expired", paused: true });
  assert.deepEqual(world.server.takeWoken(), [waiter.id]);
  assert.ok(world.events(waiter)[0].grant.fence > fence);
  world.now += 3_600_000;
  holder.handleTimeout(world.now);
  assert.deepEqual(holder.poll(), { type: "wait", until: null, reason: null });
  world.server.resume(holder.id);
  assert.deepEqual(world.server.takeWoken(), [holder.id]);
  assert.deepEqual(names(world.events(holder)), ["lost"]);
});

test("calls of a paused hub wait, and a shutdown resumes it", () => {
  const world = new World();
  const hub = world.client();
  world.server.pause(hub.id);
  world.acquire(hub);
  assert.deepEqual([world.events(hub), world.server.nodes()], [[], []]);
  world.server.resume(hub.id);
  assert.deepEqual(names(world.events(hub)), ["acquired"]);
  world.server.pause(hub.id);
  hub.shutdown(world.now);
  world.events(hub);
  assert.equal(hub.pending, 0);
  world.server.pause(hub.id);
  hub.disconnect(world.now);
  assert.deepEqual(world.server.sessions(), []);
});

test("nodes have their data, and the hub that owns them", () => {
  const world = new World();
  const { holder, waiter } = world.pair();
  const [directory, ...contenders] = world.server.nodes();
  assert.deepEqual([directory.path, directory.hub], ["/stock", null]);
  assert.deepEqual(
    contenders.map(({ hub }) => hub),
    [holder.id, waiter.id],
  );
  assert.ok(contenders.every(({ path, data }) => path.startsWith(LOCK) && data instanceof Uint8Array));
});

test("a record has all messages, in plain values", () => {
  const world = new World();
  const { holder, waiter } = world.pair();
  assert.deepEqual(world.server.messages(), []);
  world.server.record(true);
  holder.disconnect(world.now);
  world.now += 5;
  world.events(waiter);
  const [closed, deleted] = world.server.messages();
  const { path } = world.server.nodes()[1];
  assert.deepEqual(closed, {
    number: 1,
    time: 1000,
    hub: holder.id,
    session: 1n,
    kind: "event",
    command: null,
    name: "closed",
    paths: [],
    error: null,
    text: "session 1 is Closed",
  });
  assert.deepEqual([deleted.number, deleted.time, deleted.hub, deleted.name], [2, 1005, waiter.id, "deleted"]);
  assert.ok(deleted.command > 0 && deleted.paths[0].startsWith(LOCK) && deleted.paths[0] !== path);
  assert.deepEqual(world.server.messages(1), world.server.messages().slice(1));
  const after = world.server.messages().length;
  world.server.expire(waiter.id);
  world.events(waiter);
  world.grant(waiter);
  const later = world.server.messages(after);
  assert.deepEqual(
    later.slice(0, 3).map(({ name }) => name),
    ["expired", "connecting", "connected"],
  );
  const create = later.findLast(({ kind, name }) => kind === "request" && name === "create");
  assert.match(create.text, /^create \/stock\/.* EphemeralSequential$/);
  const reply = later.find(({ number }) => number === create.number + 1);
  assert.deepEqual([reply.kind, reply.name, reply.command], ["reply", "created", create.command]);
  assert.ok(reply.paths[0].startsWith(create.paths[0]));
  world.server.record(false);
  holder.shutdown(world.now);
  assert.deepEqual(world.server.messages(after), later);
});

test("the same inputs have the same messages", () => {
  const run = () => {
    const world = new World();
    world.server.record(true);
    const { holder, waiter } = world.pair();
    world.server.pause(holder.id);
    world.server.expire(holder.id);
    world.events(waiter);
    world.server.resume(holder.id);
    world.events(holder);
    return world.server.messages();
  };
  assert.deepEqual(run(), run());
});

test("what is no hub of the server is refused", () => {
  const { server } = new World();
  const other = new World().client();
  const closed = Hub.memory(server, 0);
  closed.disconnect(0);
  for (const control of ["expire", "suspend", "reconnect", "pause", "resume"]) {
    for (const hub of [closed.id, other.id + 5, 0, -1, 1.5, NaN, Infinity]) {
      const refused = { name: "ConfigError", kind: "invalid-option", message: new RegExp(`^hub is ${hub}: no hub`) };
      assert.throws(() => server[control](hub), refused);
    }
    for (const hub of [undefined, null, "1", 1n, other]) {
      assert.throws(() => server[control](hub), ConfigError);
    }
  }
  assert.throws(() => server.record(1), ConfigError);
  assert.throws(() => server.messages("1"), ConfigError);
  for (const sessionTimeout of [0, -1, NaN, Infinity, 1e12, "1"]) {
    assert.throws(() => Hub.memory(server, 0, 1, sessionTimeout), ConfigError);
  }
  assert.deepEqual(server.sessions(), []);
});
