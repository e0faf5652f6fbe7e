// The real servers of tests/servers: their addresses, and their control port.

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createConnection } from "node:net";
import { createInterface } from "node:readline";

/** An address from the environment. */
export function address(variable) {
  const found = process.env[variable];
  if (found === undefined) {
    throw new Error(
      `${variable} is not set: run this by \`python3 tests/servers run -- npm --prefix bindings-wasm test\``,
    );
  }
  return found;
}

/** Sends one line to the control port, and returns its reply. */
export async function control(line) {
  const [host, port] = address("FENCEPOST_SERVERS").split(":");
  const socket = createConnection({ host, port: Number(port) });
  socket.write(`${line}\n`);
  const [answer] = await once(createInterface({ input: socket }), "line");
  socket.destroy();
  const reply = JSON.parse(answer);
  if (!reply.ok) {
    throw new Error(`${line}: ${reply.error}`);
  }
  return reply;
}

/** A name that no other test uses. */
export const unique = (name) => `js/${name}/${randomUUID()}`;

/** Every backend, with the address for `connect`. */
export const backends = {
  "memory:": () => `memory:${randomUUID()}`,
  "zk:": () => `zk://${address("FENCEPOST_ZOOKEEPER")}?session_timeout=10000`,
  "redis:": () => `redis://${address("FENCEPOST_REDIS")}`,
};

/** Limits a wait. No test needs nearly as long. */
export function within(promise, what, limit = 90_000) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} has not come within ${limit} ms`)), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
