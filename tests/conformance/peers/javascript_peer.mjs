// Runs the commands of its input with the JavaScript client: the protocol is in ../README.md.

import { createInterface } from "node:readline";

import {
  connect,
  Conflict,
  FencepostError,
  fromRedis,
  InProgress,
  memoryServer,
} from "../../../bindings-wasm/dist/node/index.mjs";
import { Redis } from "../../../bindings-wasm/node_modules/ioredis/built/index.js";
import { lookAtClaim, operations, recorded } from "./javascript_operations.mjs";

/** With this argument, the clients use ioredis. Without it, they use the library that `connect` chooses. */
const withIoRedis = process.argv.includes("ioredis");

let state;
let claiming;

/** The initial state, without objects. */
function empty() {
  state = {
    clients: {},
    given: [],
    locks: {},
    grants: {},
    claims: {},
    found: {},
    waiting: {},
  };
  claiming = operations(state, cancellable);
}

const say = (line) => console.log(JSON.stringify(line));

/** An option's name in JavaScript. */
const camel = (name) =>
  name.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase());

const NUMBERS = [
  "ttl",
  "maxHold",
  "timeout",
  "permits",
  "lease",
  "retention",
  "margin",
  "poll",
  "answerWithin",
  "life",
];

function parse(line) {
  const [number, verb, ...rest] = line.trim().split(/\s+/);
  const words = rest.filter((word) => !word.includes("="));
  const given = rest.filter((word) => word.includes("="));
  const options = given.map((word) => {
    const at = word.indexOf("=");
    const [name, text] = [
      camel(word.slice(0, at)),
      decodeURIComponent(word.slice(at + 1)),
    ];
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
    multi: () =>
      client.multiLock(quoted.split(",").map(decodeURIComponent), options),
  };
  return makes[kind]();
}

/** The answer of a call that a `cancel` with that name can cancel; null if it was cancelled. */
async function cancellable(name, ask) {
  const controller = new AbortController();
  state.waiting[name] = controller;
  try {
    return await ask(controller.signal);
  } catch (error) {
    if (error === controller.signal.reason) return null;
    throw error;
  } finally {
    delete state.waiting[name];
  }
}

/** Acquires a lock, and stores the grant under that name. */
async function acquire(name, lock, options) {
  const ask = async (signal) =>
    (await lock.acquire({ ...options, signal })) ?? undefined;
  const grant = await cancellable(name, ask);
  return grant === null ? { answer: "cancelled" } : acquired(name, grant);
}

function acquired(name, grant) {
  if (!grant) return { answer: "not-acquired" };
  state.grants[name] = grant;
  return { answer: "granted", fence: String(grant.fence) };
}

/** The state of a grant. */
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
  const described = state.found[name].map(
    ({ holds, shared, identifier, fence }) => ({
      holds,
      shared,
      identifier,
      fence: String(fence),
    }),
  );
  return { answer: "ok", contenders: described };
}

/** The claim with that name, or the grant. */
const held = (name) => state.claims[name] ?? state.grants[name];

/** A client by its address. */
function connected(url) {
  if (!withIoRedis) return connect(url);
  const redis = new Redis(url);
  // fencepost's client reports these errors.
  redis.on("error", () => undefined);
  state.given.push(redis);
  return fromRedis(redis);
}

async function reset() {
  for (const client of Object.values(state.clients)) await client.close();
  for (const redis of state.given) redis.disconnect();
  empty();
}

const does = {
  client: async ([name, url]) => {
    state.clients[name] = await connected(decodeURIComponent(url));
  },
  lock: ([name, client, kind, path], options) => {
    state.locks[name] = makeLock(state.clients[client], kind, path, options);
  },
  acquire: ([name, lock], options) => acquire(name, state.locks[lock], options),
  try: async ([name, lock]) =>
    acquired(name, await state.locks[lock].tryAcquire()),
  cancel: ([name]) => {
    if (!(name in state.waiting)) return { answer: "not-waiting" };
    state.waiting[name].abort();
    return undefined;
  },
  release: ([name]) => held(name).release(),
  extend: ([name]) => held(name).extend(),
  downgrade: ([name]) => state.grants[name].downgrade(),
  look: ([name]) =>
    name in state.claims
      ? lookAtClaim(state.claims[name])
      : look(state.grants[name]),
  loss: async ([name]) => ({ answer: (await held(name).lost).kind }),
  revocation: ([name]) => {
    const { revokeRequested, lost } = state.grants[name];
    return Promise.race([
      revokeRequested.then(() => undefined),
      lost.then(() => ({ answer: "over" })),
    ]);
  },
  contenders: ([name]) => contenders(name),
  revoke: ([name, at]) =>
    state.locks[name].revoke(state.found[name][Number(at)]),
  break: ([name, at]) =>
    state.locks[name].breakContender(state.found[name][Number(at)]),
  control: async ([verb, name, url]) => {
    const server = await memoryServer(decodeURIComponent(url));
    server.session(state.clients[name])[verb]();
  },
  close: ([name]) => state.clients[name].close(),
  reset,
};

async function answer({ number, verb, words, options }) {
  let given;
  try {
    given = (await (does[verb] ?? claiming[verb])(words, options)) ?? {
      answer: "ok",
    };
  } catch (error) {
    const answer =
      error instanceof FencepostError ? error.kind : `exception ${error.name}`;
    given = { answer, detail: String(error) };
    if (error instanceof InProgress) given.retry_after = error.retryAfter;
    if (error instanceof Conflict) Object.assign(given, recorded(error.record));
  }
  say({ id: number, ...given });
}

empty();
for await (const line of createInterface({ input: process.stdin }))
  void answer(parse(line));
await reset();
