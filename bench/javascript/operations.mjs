// Operations: an acquire claims a new key, a release completes it. With fencepost, or the same requests with the client
// libraries alone.

import { createHash } from "node:crypto";
import { promisify } from "node:util";

import { ioredis, nodeRedis, script, zookeeper } from "./libraries.mjs";

/** A digest as long as usual ones. */
const FINGERPRINT = "0123456789abcdef0123456789abcdef";
const TAG = "bytes";
/** 1 KiB. */
const RESULT = new Uint8Array(1024).fill(0x72);
/** How long a claim and a result are kept, in ms: short, because there are many. */
const KEPT = 10_000;
const KEEP_TOMBSTONE = "10000";

/** The keys of this process: each is new. */
function keys() {
  let number = 0;
  return () => {
    number += 1;
    return { number, key: `key-${process.pid}-${number}` };
  };
}

/** fencepost, by address or on a client of ioredis. */
export async function operations(address, scope, onIoredis) {
  // Loaded here: a raw client is measured without fencepost in its process.
  const { connect, fromRedis } = await import("../../bindings-wasm/dist/node/index.mjs");
  const connection = onIoredis ? await ioredis(address) : undefined;
  const client = onIoredis ? fromRedis(connection) : await connect(address.url);
  const lease = address.isZooKeeper ? {} : { lease: KEPT };
  const within = client.idempotency(scope, { retention: KEPT, ...lease });
  const next = keys();
  let claim;
  return {
    async acquire() {
      claim = await within.claim(next().key, { fingerprint: FINGERPRINT });
    },
    async release() {
      await claim.complete(RESULT, { tag: TAG });
      if (claim.replayed) throw new Error("another process has completed it");
    },
    async close() {
      await client.close();
      connection?.disconnect();
    },
  };
}

/** fencepost's scripts by EVALSHA, over node-redis. */
export async function rawNodeRedis(address, scope) {
  const client = await nodeRedis(address);
  const run = ({ sha, ...call }) => client.evalSha(sha, call);
  return rawOn(
    (text) => client.scriptLoad(text),
    run,
    () => client.close(),
    scope,
  );
}

/** The same over ioredis. */
export async function rawIoredis(address, scope) {
  const client = await ioredis(address);
  const run = ({ sha, keys, arguments: values }) => client.evalsha(sha, keys.length, ...keys, ...values);
  return rawOn(
    (text) => client.script("LOAD", text),
    run,
    async () => client.disconnect(),
    scope,
  );
}

async function rawOn(load, run, close, scope) {
  const texts = [script("Claim"), script("Complete")];
  for (const text of texts) await load(text);
  const [claim, complete] = texts.map((text) => createHash("sha1").update(text).digest("hex"));
  const next = keys();
  const result = Buffer.from(RESULT);
  let record, attempt, tombstone;
  return {
    async acquire() {
      const { number, key } = next();
      record = `fencepost:{${scope}/${key}}`;
      attempt = attemptOf(number);
      tombstone = `${record}:gone:${attempt}`;
      const values = [attempt, KEEP_TOMBSTONE, "0", "", FINGERPRINT, "", `${KEPT}`, `${KEPT}`];
      check(await run({ sha: claim, keys: [record, tombstone], arguments: values }), "claimed");
    },
    async release() {
      const values = [attempt, KEEP_TOMBSTONE, TAG, result, `${record}:ended`];
      check(await run({ sha: complete, keys: [record, tombstone], arguments: values }), "completed");
    },
    close,
  };
}

const attemptOf = (number) => `${process.pid.toString(16).padStart(16, "0")}${number.toString(16).padStart(16, "0")}-1`;

/** A cycle that fails must not count as a fast one. */
function check(answer, wanted) {
  if (!answer.startsWith(wanted)) throw new Error(`a script answered ${answer}`);
}

/** node-zookeeper-client alone: a transaction and a read in one flight; a transaction. The directories exist. */
export async function rawZooKeeper(address, scope) {
  const { library, client } = await zookeeper(address);
  const { CreateMode } = library;
  const read = promisify((path, done) => client.getData(path, (error, data, stat) => done(error, stat)));
  const commit = (transaction) => promisify(transaction.commit.bind(transaction))();
  const next = keys();
  let record, lease, attempt, fence;

  const field = (name, value) => `${name}:${value.length}:${value}\n`;
  const data = (state, fence = "") =>
    `fencepost-record:1\n${field("state", state)}${field("attempt", attempt)}${fence}` +
    `${field("fingerprint", FINGERPRINT)}${field("retention", `${KEPT}`)}`;

  return {
    async acquire() {
      const { number, key } = next();
      attempt = attemptOf(number);
      record = `/fencepost/${scope}/${(number % 256).toString(16).padStart(2, "0")}/${key}`;
      lease = `${record}/${attempt}`;
      const transaction = client
        .transaction()
        .create(record, Buffer.from(data("running")), CreateMode.PERSISTENT)
        .create(lease, Buffer.alloc(0), CreateMode.EPHEMERAL);
      const committed = commit(transaction);
      const stat = read(lease);
      await committed;
      fence = (await stat).czxid.readBigInt64BE();
    },
    async release() {
      const head = `${data("done", field("fence", `${fence}`))}${field("tag", TAG)}result:${RESULT.length}:`;
      const whole = Buffer.concat([Buffer.from(head), RESULT, Buffer.from("\n")]);
      await commit(client.transaction().remove(lease).setData(record, whole, 0));
    },
    close: async () => client.close(),
  };
}
