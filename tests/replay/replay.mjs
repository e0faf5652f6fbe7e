// Replays the transcripts on the public hub of the npm package, and compares its outputs byte for byte.
//
//     node tests/replay/replay.mjs [FILE...]
//
// The format is described in tests/transcripts/README.md. Transcripts use microseconds, this hub uses milliseconds.

import { readFile, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import {
  FencepostError,
  Hub,
  Settings,
} from "../../bindings-wasm/dist/node/index.mjs";

const root = fileURLToPath(new URL("../transcripts/", import.meta.url));

/** @param {number} micros */
const millis = (micros) => micros / 1000;
/** @param {number | null} time in ms */
const micros = (time) => (time === null ? null : Math.round(time * 1000));

const ANY_VERSION = -1;

const text = new TextDecoder();
const bytes = new TextEncoder();

/** Settings of a transcript in the form of this language: camel case, durations in ms. */
function settings(data) {
  const durations = [
    "ttl",
    "margin",
    "poll",
    "answer_within",
    "max_hold",
    "lease",
    "retention",
    "life",
  ];
  const camel = (name) =>
    name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
  const entries = Object.entries(data).map(([name, value]) => [
    camel(name),
    durations.includes(name)
      ? millis(value)
      : name === "fence"
        ? BigInt(value)
        : value,
  ]);
  return new Settings(Object.fromEntries(entries));
}

/** A Redis value. Strings of a transcript are bytes on the wire. */
function redisValue(value) {
  if (typeof value === "string") return bytes.encode(value);
  return Array.isArray(value) ? value.map(redisValue) : value;
}

function reply(hub, now, step) {
  const session = step.session === undefined ? undefined : BigInt(step.session);
  switch (step.reply) {
    case "created":
      return hub.created(now, step.id, session, step.path, BigInt(step.czxid));
    case "children":
      return hub.children(now, step.id, session, step.names);
    case "data": {
      const created = step.created ?? 0;
      const stat = {
        czxid: BigInt(step.czxid),
        mzxid: BigInt(step.mzxid ?? step.czxid),
        ephemeralOwner: BigInt(step.owner),
        version: step.version,
        created,
        modified: step.modified ?? created,
      };
      return hub.data(now, step.id, session, bytes.encode(step.data), stat);
    }
    case "done":
      return hub.done(now, step.id, session);
    case "error":
      return hub.error(now, step.id, session, step.code);
    case "value":
      return hub.reply(now, step.id, redisValue(step.value));
    case "redis-error":
      return hub.reply(now, step.id, new Error(step.error));
    default:
      throw new Error(`unknown reply ${step.reply}`);
  }
}

const inputs = {
  open: (hub, now, step) =>
    hub.open(
      now,
      settings(step.settings),
      Buffer.from(step.contender, "hex"),
      step.seed,
    ),
  acquire: (hub, now, step) =>
    hub.acquire(
      now,
      step.key,
      step.acquire_timeout === undefined ? undefined : millis(step.acquire_timeout),
    ),
  try: (hub, now, step) => hub.tryAcquire(now, step.key),
  extend: (hub, now, step) => hub.extend(now, step.key),
  downgrade: (hub, now, step) => hub.downgrade(now, step.key),
  release: (hub, now, step) => hub.release(now, step.key),
  complete: (hub, now, step) =>
    hub.complete(now, step.key, step.tag, bytes.encode(step.result)),
  leave: (hub, now, step) => hub.leave(now, step.key),
  cancel: (hub, now, step) => hub.cancel(now, step.key),
  close: (hub, now, step) => hub.close(now, step.key),
  shutdown: (hub, now) => hub.shutdown(now),
  timeout: (hub, now) => hub.handleTimeout(now),
  reply,
  fail: (hub, now, step) => hub.failed(now, step.id, step.failure),
  session: (hub, now, step) =>
    hub.session(now, step.state, BigInt(step.session), millis(step.timeout)),
  watch: (hub, now, step) =>
    hub.watch(now, step.id, BigInt(step.session), step.event),
  message: (hub, now, step) => hub.message(now, step.id),
  gone: (hub, now, step) => hub.gone(now, step.id),
};

/** Passes an input to the hub; returns the name of the misuse, if it was one. */
function put(hub, step) {
  try {
    inputs[step.do](hub, millis(step.at), step);
  } catch (error) {
    if (error instanceof FencepostError) return error.kind;
    throw error;
  }
  return undefined;
}

/** An output as the fields of its line, in their order. */
function fields(output) {
  if (output.type === "wait")
    return { wait: micros(output.until), reason: output.reason };
  if (output.type === "command") return command(output);
  const { event, key } = output;
  switch (event) {
    case "queued":
      return { event, key, ahead: output.ahead };
    case "acquired": {
      const { attempt, fence, takeovers, validUntil } = output.grant;
      return {
        event,
        key,
        attempt,
        fence: fence?.toString() ?? null,
        ...(takeovers > 0 && { takeovers }),
        valid_until: micros(validUntil),
      };
    }
    case "completed":
    case "replayed":
    case "looked":
      return { event, key, record: record(output.record) };
    case "swept":
      return { event, key, deleted: output.deleted };
    case "found":
      return { event, key, contenders: output.contenders.map(contender) };
    case "mixed-layouts":
      return { event, key, detail: output.node };
    case "extended":
    case "resumed":
      return { event, key, valid_until: micros(output.validUntil) };
    case "lost":
    case "refused": {
      const { command, detail, retryAfter, record: present } = output.cause;
      return {
        event,
        key,
        reason: output.reason.kind,
        command,
        detail,
        ...(retryAfter !== null && { retry_after: micros(retryAfter) }),
        ...(present !== null && { record: record(present) }),
      };
    }
    default:
      return { event, key };
  }
}

function contender({ node, holds, shared, session, since, expiresIn, fence, identifier }) {
  return {
    node,
    holds,
    shared,
    ...(session !== null && { session: session.toString() }),
    ...(since !== null && { since }),
    ...(expiresIn !== null && { expires_in: micros(expiresIn) }),
    fence: fence.toString(),
    identifier,
  };
}

/** The end of a lease that lasts as long as its session. JavaScript cannot represent this number exactly. */
const UNKNOWN_END = 2 ** 64;

function record(known) {
  return (
    known && {
      state: known.state,
      attempt: known.attempt,
      fence: known.fence.toString(),
      takeovers: known.takeovers,
      policy: known.policy,
      lease_end: Math.min(known.leaseEnd, UNKNOWN_END),
      kept_until: known.keptUntil,
      version: known.version,
      tag: known.tag,
      result: text.decode(known.result),
    }
  );
}

function command(output) {
  const { operation, id, key, target } = output;
  const line = {
    command: operation,
    id,
    key,
    target,
    deadline: micros(output.deadline),
  };
  if ("arguments" in output) {
    const readable = (argument) =>
      typeof argument === "string" ? argument : text.decode(argument);
    return { ...line, arguments: output.arguments.map(readable) };
  }
  return {
    ...line,
    path: output.path,
    data: text.decode(output.data),
    flags: output.flags,
    ...(output.parts.length > 0 && { parts: output.parts.map(part) }),
  };
}

function part({ operation, path, data, flags, version }) {
  return {
    command: operation,
    path,
    data: text.decode(data),
    flags,
    ...(version !== ANY_VERSION && { version }),
  };
}

const promises = JSON.parse(
  await readFile(join(root, "promises.json"), "utf8"),
);

/** Replays one transcript. Returns the difference, with the promises of the case and its reason, or nothing. */
function replay(content) {
  const lines = content.split("\n");
  const header = JSON.parse(lines[0]);
  const guards = header.guards ?? [];
  const unknown = guards.find((name) => !(name in promises));
  if (unknown !== undefined) return `line 1: there is no promise ${unknown}`;
  const difference = play(header, lines);
  if (difference === undefined) return undefined;
  const broken = guards.map(
    (name) => `${name} may be broken: ${promises[name]}`,
  );
  return [difference, ...broken, `the case: ${header.why}`].join("\n");
}

/** Passes a transcript's inputs to a hub. Returns the difference, or nothing. */
function play(header, lines) {
  const hub = new Hub(header.family, header.seed);
  let at = 1;
  while (at < lines.length && lines[at] !== "") {
    const step = JSON.parse(lines[at]);
    at += 1;
    const misuse = put(hub, step);
    if (misuse !== step.misuse)
      return `line ${at}: misuse ${misuse}, expected ${step.misuse}`;
    for (let over = false; !over; at += 1) {
      const output = hub.poll();
      over = output.type === "wait";
      const returned = JSON.stringify(fields(output)).replace(`${UNKNOWN_END}`, `${2n ** 64n - 1n}`);
      if (returned !== lines[at])
        return `line ${at + 1}:\n  returned ${returned}\n  expected ${lines[at]}`;
    }
  }
  return undefined;
}

async function transcripts() {
  const files = [];
  for (const family of await readdir(root, { withFileTypes: true })) {
    if (!family.isDirectory()) continue;
    for (const file of await readdir(join(root, family.name))) {
      if (file.endsWith(".jsonl")) files.push(join(root, family.name, file));
    }
  }
  return files.sort();
}

const files =
  process.argv.length > 2 ? process.argv.slice(2) : await transcripts();
let failed = 0;
for (const file of files) {
  const difference = replay(await readFile(file, "utf8"));
  if (difference !== undefined) {
    failed += 1;
    console.log(
      `FAILED ${basename(dirname(file))}/${basename(file)}, ${difference}`,
    );
  }
}
// Check that the replayer detects a difference.
const [first] = files;
if (
  first !== undefined &&
  replay((await readFile(first, "utf8")).replace('"any"', '"own"')) ===
    undefined
) {
  failed += 1;
  console.log("FAILED: a changed transcript was taken for the right one");
}
console.log(`javascript: ${files.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 && files.length > 0 ? 0 : 1);
