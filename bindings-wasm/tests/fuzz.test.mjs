// Random arguments for all public functions: they throw only this package's errors, never an error of the WebAssembly
// module, and the hub continues to work. FENCEPOST_SEED selects other cases, and FENCEPOST_CASES their number.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";

import fc from "fast-check";

import {
  ConfigError,
  Hub,
  MemoryServer,
  MisuseError,
  Settings,
  connect,
  fromRedis,
  fromZooKeeper,
  parseAddress,
} from "../dist/index.js";

const SEED = Number(process.env.FENCEPOST_SEED ?? 20_261_121);
const CASES = Number(process.env.FENCEPOST_CASES ?? 300);
const SESSION = 77n;
const MOST_OUTPUTS = 300;
// A deadline after this time counts as no deadline.
const FAR = 2 ** 40;

// After this time in ms, a pending promise counts as one that will never settle.
const HANGS = 10_000;

const options = { seed: SEED, numRuns: CASES };

const texts = fc.string({ unit: "binary", maxLength: 20 });
const numbers = fc.oneof(
  fc.constantFrom(0, -1, 1, -0, NaN, Infinity, -Infinity, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 64, 1e300, 5e-324, 0.5),
  fc.double(),
  fc.integer(),
);
const big = fc.oneof(fc.constantFrom(SESSION, 0n, -1n, 2n ** 63n, 2n ** 64n, -(2n ** 63n), 2n ** 200n), fc.bigInt());
const bytes = fc.uint8Array({ maxLength: 20 });
// This includes halves of surrogate pairs.
const halves = fc.constantFrom("\ud800", "a\udfffb", "x".repeat(5000), "\0", "constructor", "__proto__");
const odd = fc.oneof(
  { depthSize: "small" },
  fc.constantFrom(undefined, null, true, false, Symbol("s"), () => 1, new Error("NOSCRIPT"), Object.create(null)),
  numbers,
  big,
  texts,
  halves,
  bytes,
  fc.date(),
  fc.anything({ maxDepth: 2, withBigInt: true, withSparseArray: true, withTypedArray: true, withNullPrototype: true }),
);

const times = fc.nat(60_000);
const small = fc.nat(12);
const names = fc.oneof(fc.constantFrom("stock", "", "a//b", "lock-0000000001"), texts, halves);
const words = fc.constantFrom(
  ...["connected", "suspended", "expired", "auth-failed", "closed"],
  ...["deleted", "changed", "gone", "not-sent", "unknown", ""],
);
const values = fc.constantFrom(
  [1, "17"],
  [0, 250, "x"],
  [0, 250],
  [3, "x"],
  [0, null],
  [0, "x"],
  [2],
  null,
  [],
  new Error("NOSCRIPT"),
);
const stat = fc.record({
  czxid: big,
  mzxid: big,
  ephemeralOwner: big,
  version: fc.integer(),
  created: fc.nat(),
  modified: fc.nat(),
});

const VERBS = {
  acquire: [times, small, fc.option(fc.integer({ min: -10, max: 10_000 }), { nil: undefined })],
  tryAcquire: [times, small],
  extend: [times, small],
  release: [times, small],
  complete: [times, small, texts, bytes],
  leave: [times, small],
  cancel: [times, small],
  created: [times, small, big, names, big],
  children: [times, small, big, fc.array(names, { maxLength: 4 })],
  data: [times, small, big, bytes, stat],
  done: [times, small, big],
  error: [times, small, big, fc.integer({ min: -130, max: 10 })],
  reply: [times, small, values],
  failed: [times, small, words],
  session: [times, words, big, times],
  watch: [times, small, big, words],
  message: [times, small],
  gone: [times, small],
  handleTimeout: [times],
  poll: [small],
  close: [times, small],
  shutdown: [times],
  disconnect: [times],
};

// The methods whose second argument is a command: mostly a pending one.
const OUTCOMES = ["created", "children", "data", "done", "error", "reply", "failed", "watch", "message"];
// Replies are more frequent, so that machines make progress; a shutdown ends all of them.
const LASTING = Object.keys(VERBS).filter((name) => name !== "shutdown" && name !== "disconnect");
const WEIGHTED = [LASTING, LASTING, OUTCOMES, OUTCOMES, Array(12).fill("reply"), "shutdown", "disconnect"].flat();

/** Mostly valid values, so that calls have an effect. */
const mostly = (right) => fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: odd });

const calls = fc.array(
  fc.constantFrom(...WEIGHTED).chain((name) => {
    const right = fc.tuple(...VERBS[name].map(mostly));
    const wrong = fc.array(odd, { maxLength: 8 });
    return fc.tuple(fc.constant(name), fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: wrong }));
  }),
  { minLength: 1, maxLength: 25 },
);

const documented = (error) => error instanceof ConfigError || error instanceof MisuseError;

/** Calls a function. Its error has to be a documented one. */
function attempt(call) {
  try {
    return call();
  } catch (error) {
    assert.ok(documented(error) && error.message !== "" && error.code > 0, error);
    return undefined;
  }
}

async function attemptAsync(call) {
  try {
    return await call();
  } catch (error) {
    assert.ok(documented(error) && error.message !== "", error);
    return undefined;
  }
}

const settingsFor = (family, name) =>
  new Settings({ kind: family === "redis" ? "redis-string" : "zookeeper-mutex", name });

/** A minimal server, which is enough for one acquire. */
class Server {
  #nodes = [];

  answer(hub, now, command) {
    const { id, operation, path } = command;
    switch (operation) {
      case "call":
        return hub.reply(now, id, [1, "17"]);
      case "subscribe":
      case "unsubscribe":
        return hub.reply(now, id, null);
      case "create": {
        const made = command.flags === 1 ? `${path}${String(this.#nodes.length).padStart(10, "0")}` : path;
        this.#nodes.push(made);
        return hub.created(now, id, SESSION, made, BigInt(this.#nodes.length));
      }
      case "children": {
        const inside = this.#nodes.filter((node) => node.startsWith(`${path}/`));
        const all = inside.map((node) => node.slice(path.length + 1)).filter((name) => !name.includes("/"));
        return hub.children(now, id, SESSION, all);
      }
      case "get":
        return hub.data(now, id, SESSION, new Uint8Array(), {
          czxid: 1n,
          mzxid: 1n,
          ephemeralOwner: SESSION,
          version: 0,
          created: 0,
          modified: 0,
        });
      case "multi":
        // Only checks: a mutex creates no nodes with a multi.
        return hub.children(now, id, SESSION, []);
      case "delete":
        this.#nodes = this.#nodes.filter((node) => node !== path);
        return hub.done(now, id, SESSION);
      default:
        return hub.done(now, id, SESSION);
    }
  }
}

/** A whole acquire and release, after any earlier inputs of the hub. */
function assertWorks(hub, family, from) {
  let now = from;
  if (family === "zookeeper") {
    hub.session(now, "connected", SESSION, 10_000);
  }
  const server = new Server();
  const key = hub.open(now, settingsFor(family, "works"), randomBytes(16), 5);
  hub.acquire(now, key);
  const events = [];
  for (let polled = 0; polled < MOST_OUTPUTS; polled += 1) {
    const output = hub.poll();
    if (output.type === "command") {
      server.answer(hub, now, output);
    } else if (output.type === "wait") {
      if (events.at(-1) === "released") {
        break;
      }
      now = Math.max(now, output.until ?? now);
      hub.handleTimeout(now);
    } else if (output.key === key) {
      events.push(output.event);
      if (output.event === "acquired") {
        hub.release(now, key);
      }
    }
  }
  assert.deepEqual(events.slice(-2), ["acquired", "released"]);
  hub.close(now, key);
}

function make(kind) {
  if (kind === "memory") {
    return Hub.memory(new MemoryServer(), 0, 1);
  }
  const hub = new Hub(kind, 1);
  if (kind === "zookeeper") {
    hub.session(0, "connected", SESSION, 10_000);
  }
  return hub;
}

/** Takes all outputs; returns the ids of the commands. */
function drain(hub) {
  const ids = [];
  for (let polled = 0; polled < MOST_OUTPUTS; polled += 1) {
    const output = hub.poll();
    if (output.type === "wait") {
      return ids;
    }
    if (output.type === "command") {
      ids.push(output.id);
    }
  }
  return assert.fail(`more than ${MOST_OUTPUTS} outputs`);
}

console.log(`seed ${SEED}, ${CASES} cases: FENCEPOST_SEED=${SEED} repeats them`);

describe("a hub takes anything", () => {
  for (const kind of ["zookeeper", "redis", "memory"]) {
    test(kind, () => {
      const story = (steps) => {
        const hub = make(kind);
        for (let count = 0; count < 2; count += 1) {
          hub.acquire(0, hub.open(0, settingsFor(kind, "stock"), randomBytes(16), 3));
        }
        let [latest, over] = [0, false];
        let underWay = drain(hub);
        for (const [name, parameters] of steps) {
          if (OUTCOMES.includes(name) && underWay.length > 0 && Number.isSafeInteger(parameters[1])) {
            parameters[1] = underWay[Math.abs(parameters[1]) % underWay.length];
          }
          attempt(() => hub[name](...parameters));
          // A shutdown is final, and so is the end of a session in memory.
          over ||= name === "shutdown" || name === "disconnect";
          const [now] = parameters;
          if (typeof now === "number" && name !== "poll") {
            latest = Math.max(latest, now);
          }
          underWay = [...drain(hub), ...underWay].slice(0, 6);
        }
        assert.ok(hub.pending >= 0 && hub.id >= 0);
        if (latest < FAR && !over) {
          assertWorks(hub, kind, Math.ceil(latest));
        }
      };
      fc.assert(fc.property(calls, story), options);
    });
  }
});

test("machines are opened with anything", () => {
  const opened = (now, settings, owner, seed) => {
    attempt(() => new Hub(settings, seed));
    attempt(() => new Hub("redis", seed));
    attempt(() => Hub.memory(settings, now, seed));
    attempt(() => Hub.memory(new MemoryServer(), now, seed));
    for (const kind of ["zookeeper", "redis", "memory"]) {
      const hub = make(kind);
      attempt(() => hub.open(now, settings, owner, seed));
      attempt(() => hub.open(now, settingsFor(kind, "a"), owner, seed));
      if (typeof now !== "number" || now < FAR) {
        assertWorks(hub, kind, 60_000);
      }
    }
  };
  const owner = fc.uint8Array({ minLength: 16, maxLength: 16 });
  fc.assert(fc.property(mostly(times), odd, mostly(owner), mostly(small), opened), options);
});

test("settings and addresses are read from anything", () => {
  const zookeeper = ["mutex", "reader", "writer", "election", "semaphore", "inspection", "multi-lock"].map(
    (kind) => `zookeeper-${kind}`,
  );
  const ofClients = ["lock", "reader", "writer", "semaphore", "election", "multi-lock"];
  const kinds = fc.constantFrom(...zookeeper, "redis-string", ...ofClients);
  const some = fc.oneof(fc.integer({ min: -1, max: 10_000 }), odd);
  const optional = {
    server: mostly(fc.constantFrom("zookeeper", "redis", "memory")),
    owner: mostly(names),
    fair: some,
    prefix: some,
    layout: mostly(fc.constantFrom("curator", "kazoo", "plain")),
    nodePrefix: some,
    identifier: mostly(names),
    revocable: some,
    permits: some,
    names: mostly(fc.array(names, { maxLength: 3 })),
    of: mostly(fc.constantFrom("mutex", "semaphore")),
    action: mostly(fc.constantFrom("list", "break")),
    node: mostly(names),
    fence: mostly(big),
    ttl: some,
    margin: some,
    renew: some,
    poll: some,
    answerWithin: some,
    maxHold: some,
  };
  const data = fc.record(
    { kind: mostly(kinds), name: mostly(names), ...optional, other: odd },
    { requiredKeys: ["kind", "name"] },
  );
  const read = (settings, raw, name) => {
    attempt(() => new Settings(settings));
    attempt(() => new Settings(raw));
    attempt(() => parseAddress(raw));
    for (const form of ["", "memory:", "zk://", "zk://h/", "zk://h?session_timeout=", "redis://"]) {
      attempt(() => parseAddress(form + name));
    }
  };
  fc.assert(fc.property(data, odd, texts, read), options);
});

test("a client takes anything", async () => {
  const settings = fc.dictionary(
    fc.constantFrom("ttl", "renew", "maxHold", "poll", "layout", "nodePrefix", "identifier", "revocable", "other"),
    odd,
    { maxKeys: 3, noNullPrototype: true },
  );
  const how = fc.oneof(odd, fc.record({ timeout: odd, signal: odd }, { requiredKeys: [] }));
  const use = async (name, chosen, acquire, raw) => {
    attempt(() => fromRedis(raw));
    attempt(() => fromZooKeeper(raw, acquire));
    await attemptAsync(() => (typeof raw === "string" ? connect("memory:", acquire) : connect(raw, acquire)));
    const client = await connect("memory:");
    try {
      const lock = attempt(() => client.lock(name, chosen)) ?? client.lock("stock");
      const grant = await attemptAsync(() => lock.acquire(acquire));
      await grant?.release();
      await attemptAsync(() => lock.using(() => 1, acquire));
      const works = await client.lock("works").acquire();
      assert.equal(typeof works.fence, "bigint");
      await works.release();
    } finally {
      await client.close();
    }
  };
  await fc.assert(fc.asyncProperty(mostly(names), fc.oneof(settings, odd), how, odd, use), {
    ...options,
    timeout: HANGS,
  });
});
