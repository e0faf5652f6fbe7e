// The client libraries in the oldest and the newest version that package.json allows: rows of a list.

import { Redis as IoRedis6 } from "ioredis";
import IoRedis5 from "ioredis-5";
import { createClient as createClient6 } from "redis";
import { createClient as createClient5 } from "redis-5";

import { Client } from "../dist/client/client.js";
import { RedisDriver } from "../dist/drivers/redis/driver.js";
import { byAddress as ioRedisAt } from "../dist/drivers/redis/ioredis.js";
import { byAddress as nodeRedisAt } from "../dist/drivers/redis/node-redis.js";
import { fromRedis } from "../dist/index.js";

const nodeRedis = (createClient) => (at, options) => {
  const client = createClient({ url: `redis://${at}`, ...options });
  client.on("error", () => undefined);
  const connected = client.connect();
  connected.catch(() => undefined);
  return [client, () => client.destroy(), connected];
};

const ioRedis = (Redis) => (at) => {
  const client = new Redis(`redis://${at}`, { retryStrategy: () => 50 });
  client.on("error", () => undefined);
  return [client, () => client.disconnect(), undefined];
};

/** How a client is made: `begin` does not wait for its connection. */
const making = (begin) => ({
  begin,
  make: async (at, options) => {
    const [client, end, connected] = begin(at, options);
    await connected;
    return [client, end];
  },
});

/** `package`: its name in package.json's peerDependencies; `as`: its name in node_modules; `at`: its connections to an address. */
export const REDIS_PEERS = [
  {
    package: "redis",
    as: "redis-5",
    age: "oldest",
    ...making(nodeRedis(createClient5)),
    at: (place) => nodeRedisAt(createClient5, place),
  },
  {
    package: "redis",
    as: "redis",
    age: "newest",
    ...making(nodeRedis(createClient6)),
    at: (place) => nodeRedisAt(createClient6, place),
  },
  {
    package: "ioredis",
    as: "ioredis-5",
    age: "oldest",
    ...making(ioRedis(IoRedis5)),
    at: (place) => ioRedisAt(IoRedis5, place),
  },
  {
    package: "ioredis",
    as: "ioredis",
    age: "newest",
    ...making(ioRedis(IoRedis6)),
    at: (place) => ioRedisAt(IoRedis6, place),
  },
];

/** An address in the form that the drivers accept. */
export function placeOf(at) {
  const [host, port] = at.split(":");
  return { host, port: Number(port), database: 0, credentials: { user: "", password: "" } };
}

/** A fencepost client at an address, which makes its connections with that library; it ends with the test. */
export function reaching(t, peer, at, connectTimeout) {
  const client = new Client(new RedisDriver(peer.at(placeOf(at)), null, at), { connectTimeout });
  t.after(() => client.close().catch(() => undefined));
  return client;
}

/** A fencepost client on a connection of that library; both end with the test. */
export async function given(t, peer, at) {
  const [own, end] = await peer.make(at);
  const client = fromRedis(own);
  t.after(async () => {
    await client.close().catch(() => undefined);
    end();
  });
  return client;
}
