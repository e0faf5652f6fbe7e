// Runs the commands on operations with the JavaScript client: the protocol is in ../README.md.

import { effect, work } from "./javascript_work.mjs";

/** An operation has failed. */
class Failed extends Error {}

/** The options of `once` for each way in which a function ends. */
const ENDINGS = {
  returns: {},
  leaves: {},
  releases: { releaseOn: [Failed] },
  stores: { storeOn: [Failed] },
};

const text = decodeURIComponent;
const hex = (bytes) => Buffer.from(bytes).toString("hex");

/** The bytes of a word: `00ff`, or `00ff*1000`. */
function octets(word) {
  const [digits, times = "1"] = word.split("*");
  const once = Buffer.from(digits, "hex");
  return new Uint8Array(
    Buffer.concat(Array.from({ length: Number(times) }, () => once)),
  );
}

const stored = ({ result, tag }) => ({ result: hex(result), tag });

/** The fields of a record. */
export const recorded = (record) =>
  record === null
    ? {}
    : {
        state: record.state,
        takeovers: record.takeovers,
        policy: record.policy,
        version: record.version,
        ...stored(record),
      };

function claimed(claim) {
  if (claim.replayed) return { answer: "replayed", ...stored(claim) };
  return {
    answer: "claimed",
    fence: String(claim.fence),
    takeovers: claim.takeovers,
  };
}

const storing = async (storing, more) => {
  const { record, replayed } = await storing;
  return { answer: replayed ? "replayed" : "ok", ...more(record) };
};

/** The state of a claim. */
export const lookAtClaim = ({
  fence,
  isValid,
  remaining,
  signal,
  takeovers,
  replayed,
}) => ({
  answer: "ok",
  fence: String(fence),
  valid: isValid,
  remaining: Number.isFinite(remaining) ? Math.trunc(remaining) : null,
  lost: signal.aborted,
  takeovers,
  replayed,
});

/** The commands, on the state of the peer; `cancellable` starts a call that can be cancelled. */
export function operations(state, cancellable) {
  const scopes = {};
  const tags = {};
  const records = {};
  const { clients, claims } = state;

  const claim = async (name, scope, ask) => {
    const given = await cancellable(name, ask);
    if (given === null) return { answer: "cancelled" };
    claims[name] = given;
    tags[name] = tags[scope];
    return claimed(given);
  };

  return {
    scope: ([name, client, scope], { tag = "bytes", ...options }) => {
      scopes[name] = clients[client].idempotency(text(scope), options);
      tags[name] = { tag };
    },
    claim: ([name, scope, key], options) =>
      claim(name, scope, (signal) =>
        scopes[scope].claim(text(key), { ...options, signal }),
      ),
    consume: ([name, scope, token, binding], options) =>
      claim(name, scope, (signal) =>
        scopes[scope].consume(text(token), {
          binding: text(binding),
          ...options,
          signal,
        }),
      ),
    complete: async ([name, result]) => {
      await claims[name].complete(octets(result), tags[name]);
      return claims[name].replayed
        ? { answer: "replayed", ...stored(claims[name]) }
        : { answer: "ok" };
    },
    leave: ([name]) => claims[name].leave(),
    derive: ([name, step]) => ({
      answer: "ok",
      derived: claims[name].derive(text(step)),
    }),
    drop: async ([name]) => {
      delete claims[name];
      // The finalizers run in a later turn of the loop.
      for (let turn = 0; turn < 3; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        globalThis.gc();
      }
    },
    effect: ([name, key, path]) => effect(text(path), text(key), claims[name]),
    work: ([scope, ...words]) => work(scopes[scope], words, tags[scope]),
    issue: ([scope, token, binding], options) =>
      scopes[scope].issue(text(token), { binding: text(binding), ...options }),
    register: ([scope, key, result], options) =>
      storing(
        scopes[scope].register(text(key), octets(result), {
          ...tags[scope],
          ...options,
        }),
        (record) => ({
          result: hex(record.result),
        }),
      ),
    update: ([scope, key, operation, version, value], options) =>
      storing(
        scopes[scope].update(text(key), octets(value), {
          operation: text(operation),
          version: Number(version),
          ...tags[scope],
          ...options,
        }),
        (record) => ({ version: record.version }),
      ),
    record: async ([scope, key]) => {
      const record = await scopes[scope].look(text(key));
      if (record === null) return { answer: "none" };
      records[key] = record;
      return { answer: "ok", ...recorded(record) };
    },
    settle: ([scope, key, result]) =>
      storing(
        scopes[scope].settle(
          text(key),
          records[key],
          octets(result),
          tags[scope],
        ),
        (record) => ({
          result: hex(record.result),
        }),
      ),
    forget: ([scope, key]) => scopes[scope].forget(text(key), records[key]),
    once: async ([scope, key, ending]) => {
      let runs = 0;
      const run = scopes[scope].once(
        () => {
          runs += 1;
          if (ending !== "returns") throw new Failed("declined");
          return "receipt";
        },
        { key: text, ...ENDINGS[ending] },
      );
      try {
        return { answer: "ok", ...(await run.outcome(key)), runs };
      } catch (error) {
        if (error instanceof Failed) return { answer: "failed", runs };
        throw error;
      }
    },
  };
}
