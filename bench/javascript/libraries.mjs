// The client libraries, as the bindings' own package installs them.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const require = createRequire(new URL("../../bindings-wasm/package.json", import.meta.url));

/** `zk://HOST:PORT?session_timeout=MS` or `redis://HOST:PORT`. */
export class Address {
  constructor(url) {
    const parsed = new URL(url);
    if (!["zk:", "redis:"].includes(parsed.protocol) || parsed.port === "")
      throw new Error(`${url}: zk://HOST:PORT or redis://HOST:PORT`);
    this.url = url;
    this.isZooKeeper = parsed.protocol === "zk:";
    this.host = parsed.hostname;
    this.port = Number(parsed.port);
    this.sessionTimeout = Number(parsed.searchParams.get("session_timeout") ?? 10_000);
  }
}

/** node-zookeeper-client, connected. */
export async function zookeeper(address) {
  const library = require("node-zookeeper-client");
  const client = library.createClient(`${address.host}:${address.port}`, { sessionTimeout: address.sessionTimeout });
  client.connect();
  await once(client, "connected");
  return { library, client };
}

/** node-redis, connected, with its defaults. */
export async function nodeRedis(address) {
  const { createClient } = require("redis");
  const client = createClient({ url: address.url });
  client.on("error", (error) => {
    throw error;
  });
  return client.connect();
}

/** The idempotency of Powertools for AWS Lambda. */
export const powertools = () => ({
  ...require("@aws-lambda-powertools/idempotency"),
  ...require("@aws-lambda-powertools/idempotency/cache"),
});

/** ioredis, connected, with its defaults. */
export async function ioredis(address) {
  const { Redis } = require("ioredis");
  const client = new Redis({ host: address.host, port: address.port });
  await once(client, "ready");
  return client;
}

const SCRIPTS = fileURLToPath(new URL("../scripts.py", import.meta.url));

/** The text of a script of fencepost. */
export const script = (name) => execFileSync("python3", [SCRIPTS, name], { encoding: "utf8" });
