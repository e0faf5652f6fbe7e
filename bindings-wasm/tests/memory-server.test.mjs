// Requests to the server behind `memory:`, as a hub sends them: writes with versions, and the data of a node.

import assert from "node:assert/strict";
import { test } from "node:test";

import { RawServer } from "../dist/hub/glue/fencepost_memory.js";
import { answering } from "../dist/hub/memory/answers.js";
import { MemoryServer, Settings } from "../dist/index.js";

const CREATE = 1;
const GET = 3;
const DELETE = 4;
const SET = 9;
const MULTI = 10;
const CHECK = 11;
const ANY = -1;
const NO_NODE = -101;
const BAD_VERSION = -103;
const NOT_EMPTY = -111;

/** One session; `now` is the time of its requests. */
class Session {
  now = 0;

  constructor() {
    // It compiles the module.
    new MemoryServer();
    this.server = new RawServer();
    this.id = this.server.connect();
  }

  ask(operation, path, content = new Uint8Array()) {
    let answer;
    const asker = {
      created: (path, czxid) => (answer = [path, czxid]),
      children: (names) => (answer = names),
      data: (data, stat) => (answer = [Array.from(data), stat]),
      done: () => (answer = "done"),
      error: (code) => (answer = code),
    };
    answering(asker, () => this.server.execute(this.now, this.id, 1, operation, path, content, 0));
    return answer;
  }

  multi(...parts) {
    for (const [operation, path, version, data = new Uint8Array()] of parts) {
      this.server.part(operation, path, data, 0, version);
    }
    return this.ask(MULTI, "");
  }
}

test("writes name versions, and a node says when it was created and changed", () => {
  const session = new Session();
  const data = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  session.now = 5.9;
  const [, czxid] = session.ask(CREATE, "/a");
  const stat = { czxid, mzxid: czxid, ephemeralOwner: 0n, version: 0, created: 5, modified: 5 };
  assert.deepEqual(session.ask(GET, "/a"), [[], stat]);
  session.now = 7;
  assert.deepEqual(session.multi([SET, "/a", 0, data], [CHECK, "/a", 1], [CREATE, "/a/b", ANY]), ["b"]);
  assert.deepEqual(session.ask(GET, "/a"), [Array.from(data), { ...stat, mzxid: czxid + 1n, version: 1, modified: 7 }]);
  const bad = [
    [[SET, "/a", 0], BAD_VERSION],
    [[DELETE, "/a/b", 1], BAD_VERSION],
    [[CHECK, "/a", 2], BAD_VERSION],
    [[DELETE, "/a", 1], NOT_EMPTY],
    [[SET, "/none", ANY], NO_NODE],
  ];
  for (const [part, code] of bad) {
    assert.equal(session.multi([CHECK, "/a", 1], part, [CHECK, "/none", ANY]), code, part.join());
  }
  assert.deepEqual(session.multi([DELETE, "/a/b", 0], [DELETE, "/a", 1]), []);
});

test("a close returns the machine that no open key uses any more", () => {
  const hub = new MemoryServer().connect(1, 7);
  const settings = new Settings({ kind: "zookeeper-mutex", name: "stock", owner: "anna" });
  const [first, second] = [1, 2].map((byte) => hub.open(1, settings, new Uint8Array(16).fill(byte), 3));
  hub.acquire(1, first);
  hub.poll();
  hub.acquire(1, second);
  assert.equal(hub.close(2, first), undefined);
  assert.equal(hub.serves(first), true);
  assert.equal(hub.close(2, second), first);
  assert.deepEqual([hub.serves(first), hub.serves(second), hub.serves(-1)], [false, false, false]);
  assert.equal(hub.close(2, second), undefined);
  const key = hub.open(3, settings, new Uint8Array(16).fill(3), 3);
  assert.equal(hub.close(3, key), key);
  assert.throws(() => hub.close(Number.NaN, key), { kind: "unreadable-settings" });
});
