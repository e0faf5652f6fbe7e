// fencepost, by address or on an existing client.

import { connect, fromRedis } from "../../bindings-wasm/dist/node/index.mjs";
import { ioredis } from "./libraries.mjs";

function lockOf(client, name, close) {
  const lock = client.lock(name);
  let grant;
  return {
    async acquire() {
      grant = await lock.acquire();
    },
    release: () => grant.release(),
    another: (next) => lockOf(client, next, close),
    close,
  };
}

/** `connect` uses node-redis for redis: if it is installed, and node-zookeeper-client for zk:. */
export async function byAddress(address, name) {
  const client = await connect(address.url);
  return lockOf(client, name, () => client.close());
}

/** On an ioredis client. */
export async function onIoredis(address, name) {
  const connection = await ioredis(address);
  const client = fromRedis(connection);
  return lockOf(client, name, async () => {
    await client.close();
    connection.disconnect();
  });
}
