// The client libraries alone, with the requests of fencepost in the same flights. Names, data and arguments have the
// same lengths.

import { createHash, randomBytes } from "node:crypto";
import { promisify } from "node:util";

import { ioredis, nodeRedis, script, zookeeper } from "./libraries.mjs";

const PREFIX = "_c_00000000-0000-0000-0000-000000000001-lock-";
const DATA = Buffer.from("0".repeat(34));

/** create and children in one flight; delete. */
export async function rawZooKeeper(address, name) {
  return zooKeeperOn(await zookeeper(address), name);
}

async function zooKeeperOn(connected, name) {
  const { library, client } = connected;
  const { CreateMode } = library;
  const directory = `/${name}`;
  const mkdirp = promisify(client.mkdirp.bind(client));
  const create = promisify(client.create.bind(client));
  const children = promisify(client.getChildren.bind(client));
  const remove = promisify(client.remove.bind(client));
  await mkdirp(directory);
  let node;
  return {
    async acquire() {
      const created = create(`${directory}/${PREFIX}`, DATA, CreateMode.EPHEMERAL_SEQUENTIAL);
      const listed = children(directory);
      node = await created;
      await listed;
    },
    release: () => remove(node),
    another: (next) => zooKeeperOn(connected, next),
    close: async () => client.close(),
  };
}

const KEEP_TOMBSTONE = "10000";

/** The arguments of both scripts. Each acquire is a new attempt: a server rejects a released one. */
function calls(name) {
  const texts = [script("Acquire"), script("Release")];
  const [acquire, release] = texts.map((text) => createHash("sha1").update(text).digest("hex"));
  const fence = `{${name}}:fence`;
  const channel = `{${name}}:released`;
  const contender = randomBytes(16).toString("hex");
  let attempts = 0;
  let attempt, tombstone;
  return {
    texts,
    acquire() {
      attempts += 1;
      attempt = `${contender}-${attempts}`;
      tombstone = `{${name}}:gone:${attempt}`;
      const values = [attempt, "10000", "604800000", KEEP_TOMBSTONE];
      return { sha: acquire, keys: [name, fence, tombstone], arguments: values };
    },
    release: () => ({ sha: release, keys: [name, tombstone], arguments: [attempt, channel, KEEP_TOMBSTONE] }),
  };
}

/** A cycle that fails must not count as a fast one. */
function check(answer) {
  if (answer[0] !== 1) throw new Error(`a script answered ${answer}`);
}

/** fencepost's scripts by EVALSHA, over node-redis. */
export async function rawNodeRedis(address, name) {
  const client = await nodeRedis(address);
  const run = async ({ sha, ...call }) => check(await client.evalSha(sha, call));
  return redisOn((text) => client.scriptLoad(text), run, () => client.close(), name);
}

/** The same over ioredis. */
export async function rawIoredis(address, name) {
  const client = await ioredis(address);
  const run = async ({ sha, keys, arguments: values }) =>
    check(await client.evalsha(sha, keys.length, ...keys, ...values));
  return redisOn((text) => client.script("LOAD", text), run, async () => client.disconnect(), name);
}

async function redisOn(load, run, close, name) {
  const { texts } = calls(name);
  for (const text of texts) await load(text);
  const lockOf = (own) => {
    const { acquire, release } = calls(own);
    return {
      acquire: () => run(acquire()),
      release: () => run(release()),
      another: lockOf,
      close,
    };
  };
  return lockOf(name);
}
