// Acquires fencepost's locks on command, in JavaScript: the protocol is in ../README.md.
// usage: javascript_peer.mjs LAYOUT HOSTS SESSION_MS [LOGIN]

import { once } from "node:events";
import { createConnection } from "node:net";
import { createInterface } from "node:readline";

import zookeeper from "../../../bindings-wasm/node_modules/node-zookeeper-client/index.js";
import { connect, fromZooKeeper, LockLost, ReleaseUnconfirmed } from "../../../bindings-wasm/dist/node/index.mjs";

const [layout, hosts, sessionMs, login] = process.argv.slice(2);

/** A client on a connection that the peer makes. Only its user may change its nodes; all users may read them. */
async function given() {
  const theirs = zookeeper.createClient(hosts, { sessionTimeout: Number(sessionMs) });
  theirs.addAuthInfo("digest", Buffer.from(login));
  theirs.connect();
  await once(theirs, "connected");
  const acl = [
    { permissions: 31, scheme: "auth", id: "" },
    { permissions: 1, scheme: "world", id: "anyone" },
  ];
  return fromZooKeeper(theirs, { acl });
}

const client = await (login === undefined ? connect(`zk://${hosts}?session_timeout=${sessionMs}`) : given());
const holds = [];
let released;
const counters = new Map();
let acquires = 0;
let enough = new AbortController();

const say = (line) => console.log(JSON.stringify(line));

function lock(kind, path) {
  const [what, permits] = kind.split(":");
  const name = path.slice(1);
  const options = { layout, identifier: "fencepost" };
  const makes = {
    mutex: () => client.lock(name, options),
    revocable: () => client.lock(name, { ...options, revocable: true }),
    single: () => client.lock(name, { identifier: "fencepost", fair: false }),
    read: () => client.readWriteLock(name, options).reader,
    write: () => client.readWriteLock(name, options).writer,
    leader: () => client.election(name, options),
    semaphore: () => client.semaphore(name, Number(permits), options),
    multi: () =>
      client.multiLock(
        path.split(",").map((each) => each.slice(1)),
        options,
      ),
  };
  if (!(what in makes)) throw new Error(`fencepost has no ${kind}`);
  return makes[what]();
}

/** Microseconds of this machine's clock. */
const now = () => Number(process.hrtime.bigint() / 1000n);
const OFTEN_MS = 20;

/** A resource of tests/mixed or tests/faults: a function from a line to its reply. */
async function resource(address) {
  if (!counters.has(address)) {
    const colon = address.lastIndexOf(":");
    const socket = createConnection({
      host: address.slice(0, colon),
      port: Number(address.slice(colon + 1)),
      noDelay: true,
    });
    await once(socket, "connect");
    counters.set(address, { socket, lines: createInterface({ input: socket })[Symbol.asyncIterator]() });
  }
  const { socket, lines } = counters.get(address);
  return async (line) => {
    socket.write(line + "\n");
    return (await lines.next()).value;
  };
}

/** The counter of tests/mixed: read, then write one more. */
async function increment(address, fence) {
  const ask = await resource(address);
  const value = await ask(`read ${fence}`);
  return value !== "stale" && (await ask(`write ${fence} ${Number(value) + 1}`)) === "ok";
}

function find(what) {
  const at = holds.findLastIndex(({ path, node }) => what === undefined || what === path || what === node);
  if (at < 0) throw new Error("nothing is held" + (what === undefined ? "" : ` at ${what}`));
  return at;
}

/** Reports the times at which a grant becomes valid and invalid. */
function tellBelief(hold) {
  let [valid, until] = [false, 0];
  hold.look = () => {
    const { remaining } = hold.grant;
    const at = now();
    if (remaining > 0 !== valid) {
      valid = !valid;
      // This check sees the end a moment late, but the grant ended no later than it had reported.
      say({ event: "valid", path: hold.path, valid, at: valid ? at : Math.min(at, until) });
    }
    if (valid) until = at + Math.trunc(remaining * 1000);
  };
  hold.look();
  hold.looking = setInterval(hold.look, OFTEN_MS);
}

const described = ({ kind, path, node, czxid }) => ({ kind, path, node, czxid });

async function acquire(kind, path, timeout) {
  const contended = lock(kind, path);
  let grant;
  try {
    const { signal } = (enough = new AbortController());
    if (timeout === "0") grant = await contended.tryAcquire();
    else grant = await contended.acquire(timeout === undefined ? { signal } : { timeout: Number(timeout), signal });
  } catch (error) {
    if (enough.signal.aborted) return { granted: false, cancelled: true };
    throw error;
  }
  if (grant === null) return { granted: false, cancelled: false };
  // A grant has only its fence; the list of contenders contains its node.
  const found = await lock(kind.startsWith("multi") ? "mutex" : kind, path.split(",")[0]).contenders();
  const { node } = found.find(({ fence }) => fence === grant.fence);
  const hold = { kind, path, node, czxid: String(grant.fence), grant };
  holds.push(hold);
  tellBelief(hold);
  void grant.revokeRequested.then(() => say({ event: "revoke", path }));
  void grant.lost.then(() => {
    hold.look();
    clearInterval(hold.looking);
    say({ event: "state", state: "lost" });
    say({ event: "lost", path });
  });
  return { granted: true, ...described(hold) };
}

async function release(what) {
  const [hold] = holds.splice(find(what), 1);
  released = hold;
  clearInterval(hold.looking);
  await hold.grant.release();
  return described(hold);
}

/** Does the same as the end of an `await using` block. */
async function leave(what) {
  const [hold] = holds.splice(find(what), 1);
  clearInterval(hold.looking);
  await hold.grant[Symbol.asyncDispose]();
  return described(hold);
}

async function releaseAgain() {
  if (released === undefined) throw new Error("nothing was released");
  await released.grant.release();
  return described(released);
}

async function downgrade(what) {
  const hold = holds[find(what)];
  await hold.grant.downgrade();
  return described(hold);
}

/** A grant, or null if it was lost before the acquire returned. */
async function acquiredOrLost(kind, path) {
  try {
    return await lock(kind, path).acquire();
  } catch (error) {
    if (!(error instanceof LockLost)) throw error;
    return null;
  }
}

async function work(kind, path, address, rounds) {
  let [done, stale, lost] = [0, 0, 0];
  while (done < Number(rounds)) {
    const grant = await acquiredOrLost(kind, path);
    if (grant === null) {
      lost += 1;
      continue;
    }
    if (await increment(address, grant.fence)) done += 1;
    else stale += 1;
    try {
      await grant.release();
    } catch (error) {
      if (!(error instanceof LockLost)) throw error;
      lost += 1;
    }
  }
  return { done, stale, lost };
}

let stopped = false;

/** Acquires, uses the resource and releases, until `stop`. */
async function workload(kind, path, address, holdMs) {
  const ask = await resource(address);
  const shared = kind.startsWith("read") || kind.startsWith("semaphore");
  let [done, stale, lost, unconfirmed] = [0, 0, 0, 0];
  while (!stopped) {
    const grant = await acquiredOrLost(kind, path);
    if (grant === null) {
      lost += 1;
      continue;
    }
    const since = now();
    const { fence } = grant;
    const used = shared ? (await ask(`look ${fence}`)) !== "stale" : await increment(address, fence);
    if (used) done += 1;
    else stale += 1;
    const until = await believe(grant, since + 1000 * Number(holdMs));
    if (until !== null) await ask(`held ${fence} ${since} ${until}`);
    try {
      await grant.release();
    } catch (error) {
      if (error instanceof LockLost) lost += 1;
      else if (error instanceof ReleaseUnconfirmed) unconfirmed += 1;
      else throw error;
    }
  }
  return { done, stale, lost, unconfirmed };
}

/** Holds until `end` or until the grant ends. Returns the last time at which the grant was valid. */
async function believe(grant, end) {
  for (let seen = null; ; await new Promise((resolve) => setTimeout(resolve, OFTEN_MS))) {
    const at = now();
    if (!grant.isValid) return seen;
    seen = at;
    if (at >= end) return seen;
  }
}

function stop() {
  stopped = true;
  return {};
}

/** Sends the contender with this node a revocation request. */
async function revoke(node) {
  const asked = lock("mutex", node.slice(0, node.lastIndexOf("/")));
  const contender = (await asked.contenders()).find((each) => each.node === node);
  if (contender === undefined) throw new Error(`nobody has the node ${node}`);
  await asked.revoke(contender);
  return {};
}

/** The session, in the form of the servers' command `expire`. It is the owner of a held node, so the peer must hold a
 * lock. */
async function session() {
  const asked = client.lock(`fencepost-peer-${process.pid}`);
  const grant = await asked.acquire();
  const [{ session: number }] = await asked.contenders();
  await grant.release();
  // A server derives the password from the session's number: the bytes of a java.util.Random with that seed.
  const mask = (1n << 48n) - 1n;
  let state = (number ^ 0xb3415c00n ^ 0x5deece66dn) & mask;
  const password = Buffer.alloc(16);
  for (const at of [0, 4, 8, 12]) {
    state = (state * 0x5deece66dn + 0xbn) & mask;
    password.writeUInt32LE(Number((state >> 16n) & 0xffffffffn), at);
  }
  return { session: `0x${BigInt.asUintN(64, number).toString(16)}`, password: password.toString("hex") };
}

async function contenders(kind, path) {
  const marks = { read: "__READ__", write: "__WRIT__" };
  const found = await lock(kind, path).contenders();
  return {
    nodes: found.map(({ node }) => node).filter((node) => layout === "kazoo" || node.includes(marks[kind] ?? "")),
  };
}

function cancel() {
  enough.abort();
  return { cancelled: acquires > 0 };
}

const later = {
  acquire,
  release,
  leave,
  "release-again": releaseAgain,
  downgrade,
  increment: async (address) => ({ accepted: await increment(address, holds[find()].czxid) }),
  work,
  workload,
};
const atOnce = { session, contenders, cancel, stop, revoke };

async function answer(does, [command, ...words]) {
  let line;
  try {
    if (does === undefined) throw new Error("no such command of ours; see tests/interop/README.md");
    line = { ok: true, ...(await does(...words)) };
  } catch (error) {
    line = { ok: false, error: String(error) };
  }
  if (command === "acquire") acquires -= 1;
  say({ answer: command, ...line });
}

say({ answer: "ready", ok: true, peer: `javascript-${layout}`, version: "" });
let before = Promise.resolve();
for await (const line of createInterface({ input: process.stdin })) {
  const words = line.trim().split(/\s+/);
  if (words[0] === "quit") break;
  if (words[0] === "acquire") acquires += 1;
  if (words[0] === "workload") stopped = false;
  if (words[0] in later) before = before.then(() => answer(later[words[0]], words));
  else if (words[0] !== "") void answer(atOnce[words[0]], words);
}
await client.close();
process.exit(0);
