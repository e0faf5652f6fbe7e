// The client libraries alone, with the requests of fencepost in the same flights; names, data and arguments are as long.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

import { ioredis, nodeRedis, zookeeper } from "./libraries.mjs";

const PREFIX = "_c_00000000-0000-0000-0000-000000000001-lock-";
const DATA = Buffer.from("0".repeat(34));

/** create and children in one flight; delete. */
export async function rawZooKeeper(address, name) {
  const { library, client } = await zookeeper(address);
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
    close: async () => client.close(),
  };
}

const script = (name) => readFileSync(new URL(`../../core/src/redis/scripts/${name}.lua`, import.meta.url), "utf8");
const ATTEMPT = `${"0".repeat(32)}-1`;

/** What both scripts are given. */
function calls(name) {
  const tombstone = `{${name}}:gone:${ATTEMPT}`;
  const sha = (script) => createHash("sha1").update(script).digest("hex");
  return [
    { text: script("acquire"), keys: [name, `{${name}}:fence`, tombstone], arguments: [ATTEMPT, "10000", "604800000"] },
    { text: script("release"), keys: [name, tombstone], arguments: [ATTEMPT, `{${name}}:released`, "0"] },
  ].map((call) => ({ ...call, sha: sha(call.text) }));
}

/** A cycle that does nothing would be quick. */
function check(answer) {
  if (answer[0] !== 1) throw new Error(`a script answered ${answer}`);
}

/** Our own scripts by EVALSHA, over node-redis. */
export async function rawNodeRedis(address, name) {
  const client = await nodeRedis(address);
  const [acquire, release] = calls(name);
  for (const { text } of [acquire, release]) await client.scriptLoad(text);
  return {
    acquire: async () => check(await client.evalSha(acquire.sha, acquire)),
    release: async () => check(await client.evalSha(release.sha, release)),
    close: () => client.close(),
  };
}

/** The same over ioredis. */
export async function rawIoredis(address, name) {
  const client = await ioredis(address);
  const [acquire, release] = calls(name);
  for (const { text } of [acquire, release]) await client.script("LOAD", text);
  const run = async ({ sha, keys, arguments: values }) =>
    check(await client.evalsha(sha, keys.length, ...keys, ...values));
  return {
    acquire: () => run(acquire),
    release: () => run(release),
    close: async () => client.disconnect(),
  };
}
