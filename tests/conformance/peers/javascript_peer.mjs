// Does to the JavaScript client what its input says: the protocol is in ../README.md.

import { createInterface } from "node:readline";

import { connect, FencepostError } from "../../../bindings-wasm/dist/index.js";

let state;

/** Nothing has a name yet. */
const empty = () => ({ clients: {}, locks: {}, grants: {}, found: {}, waiting: {} });

const say = (line) => console.log(JSON.stringify(line));

/** An option's name in JavaScript. */
const camel = (name) => name.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase());

const NUMBERS = ["ttl", "maxHold", "timeout", "permits"];

function parse(line) {
  const [number, verb, ...rest] = line.trim().split(/\s+/);
  const words = rest.filter((word) => !word.includes("="));
  const given = rest.filter((word) => word.includes("="));
  const options = given.map((word) => {
    const at = word.indexOf("=");
    const [name, text] = [camel(word.slice(0, at)), decodeURIComponent(word.slice(at + 1))];
    if (NUMBERS.includes(name)) return [name, Number(text)];
    return [name, text === "true" ? true : text === "false" ? false : text];
  });
  return { number, verb, words, options: Object.fromEntries(options) };
}

function makeLock(client, kind, quoted, options) {
  const name = decodeURIComponent(quoted);
  const { permits, ...others } = options;
  const makes = {
    mutex: () => client.lock(name, options),
    reader: () => client.readWriteLock(name, options).reader,
    writer: () => client.readWriteLock(name, options).writer,
    election: () => client.election(name, options),
    semaphore: () => client.semaphore(name, permits, others),
    multi: () => client.multiLock(quoted.split(",").map(decodeURIComponent), options),
  };
  return makes[kind]();
}

/** Acquires a grant of that name. */
async function acquire(name, lock, tries, options) {
  const controller = new AbortController();
  state.waiting[name] = controller;
  let grant;
  try {
    grant = await (tries ? lock.tryAcquire() : lock.acquire({ ...options, signal: controller.signal }));
  } catch (error) {
    if (error === controller.signal.reason) return { answer: "cancelled" };
    throw error;
  } finally {
    delete state.waiting[name];
  }
  if (grant === null) return { answer: "not-acquired" };
  state.grants[name] = grant;
  return { answer: "granted", fence: String(grant.fence) };
}

/** What a grant says of itself. */
const look = ({ fence, isValid, remaining, isRevokeRequested, signal }) => ({
  answer: "ok",
  fence: String(fence),
  valid: isValid,
  remaining: Number.isFinite(remaining) ? Math.trunc(remaining) : null,
  revoke: isRevokeRequested,
  lost: signal.aborted,
});

async function contenders(name) {
  state.found[name] = await state.locks[name].contenders();
  const described = state.found[name].map(({ holds, shared, identifier, fence }) => ({
    holds,
    shared,
    identifier,
    fence: String(fence),
  }));
  return { answer: "ok", contenders: described };
}

async function reset() {
  for (const client of Object.values(state.clients)) await client.close();
  state = empty();
}

const does = {
  client: async ([name, url]) => {
    state.clients[name] = await connect(decodeURIComponent(url));
  },
  lock: ([name, client, kind, path], options) => {
    state.locks[name] = makeLock(state.clients[client], kind, path, options);
  },
  acquire: ([name, lock], options) => acquire(name, state.locks[lock], false, options),
  try: ([name, lock]) => acquire(name, state.locks[lock], true),
  cancel: ([name]) => {
    if (!(name in state.waiting)) return { answer: "not-waiting" };
    state.waiting[name].abort();
    return undefined;
  },
  release: ([name]) => state.grants[name].release(),
  extend: ([name]) => state.grants[name].extend(),
  downgrade: ([name]) => state.grants[name].downgrade(),
  look: ([name]) => look(state.grants[name]),
  loss: async ([name]) => ({ answer: (await state.grants[name].lost).kind }),
  revocation: ([name]) => {
    const { revokeRequested, lost } = state.grants[name];
    return Promise.race([revokeRequested.then(() => undefined), lost.then(() => ({ answer: "over" }))]);
  },
  contenders: ([name]) => contenders(name),
  revoke: ([name, at]) => state.locks[name].revoke(state.found[name][Number(at)]),
  break: ([name, at]) => state.locks[name].breakContender(state.found[name][Number(at)]),
  close: ([name]) => state.clients[name].close(),
  reset,
};

async function answer({ number, verb, words, options }) {
  let given;
  try {
    given = (await does[verb](words, options)) ?? { answer: "ok" };
  } catch (error) {
    const answer = error instanceof FencepostError ? error.kind : `exception ${error.name}`;
    given = { answer, detail: String(error) };
  }
  say({ id: number, ...given });
}

state = empty();
for await (const line of createInterface({ input: process.stdin })) void answer(parse(line));
await reset();
