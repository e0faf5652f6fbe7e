// The client libraries in the oldest and the newest version that package.json allows: rows of a list.

import { Redis as IoRedis6 } from "ioredis";
import IoRedis5 from "ioredis-5";
import { createClient as createClient6 } from "redis";
import { createClient as createClient5 } from "redis-5";

import { fromRedis } from "../dist/index.js";

const nodeRedis = (createClient) => async (at, options) => {
  const client = createClient({ url: `redis://${at}`, ...options });
  client.on("error", () => undefined);
  await client.connect();
  return [client, () => client.destroy()];
};

const ioRedis = (Redis) => async (at) => {
  const client = new Redis(`redis://${at}`, { retryStrategy: () => 50 });
  client.on("error", () => undefined);
  return [client, () => client.disconnect()];
};

/** `package`: its name in package.json's peerDependencies; `as`: its name in node_modules. */
export const REDIS_PEERS = [
  { package: "redis", as: "redis-5", age: "oldest", make: nodeRedis(createClient5) },
  { package: "redis", as: "redis", age: "newest", make: nodeRedis(createClient6) },
  { package: "ioredis", as: "ioredis-5", age: "oldest", make: ioRedis(IoRedis5) },
  { package: "ioredis", as: "ioredis", age: "newest", make: ioRedis(IoRedis6) },
];

/** A client of ours on a connection of that library; both end with the test. */
export async function given(t, peer, at) {
  const [own, end] = await peer.make(at);
  const client = fromRedis(own);
  t.after(async () => {
    await client.close().catch(() => undefined);
    end();
  });
  return client;
}
