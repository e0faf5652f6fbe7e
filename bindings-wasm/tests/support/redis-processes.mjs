// Redis processes that tests/servers does not start: a sentinel that watches a server, and a cluster of one node.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createClient } from "redis";

async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Starts redis-server with these settings, calls `use` with its address and an operator's client, and stops it. */
async function running(settings, parameters, use) {
  const folder = await mkdtemp(join(tmpdir(), "fencepost-redis-"));
  const port = await freePort();
  const file = join(folder, "redis.conf");
  await writeFile(file, `port ${port}\nbind 127.0.0.1\ndir ${folder}\n${settings}\n`);
  const server = spawn("redis-server", [file, ...parameters], { stdio: "ignore" });
  const ended = once(server, "exit");
  const operator = createClient({
    url: `redis://127.0.0.1:${port}`,
    socket: { reconnectStrategy: () => (server.exitCode === null ? 20 : false) },
  });
  operator.on("error", () => undefined);
  try {
    await operator.connect();
    await use({ host: "127.0.0.1", port }, operator);
  } finally {
    if (operator.isOpen) {
      operator.destroy();
    }
    server.kill();
    await ended;
    await rm(folder, { recursive: true });
  }
}

/** A sentinel that watches `target` ("HOST:PORT") under the name `stock`. */
export function withSentinel(target, use) {
  return running(`sentinel monitor stock ${target.replace(":", " ")} 1`, ["--sentinel"], use);
}

/** A cluster of one node, which has all slots. */
export function withCluster(use) {
  return running('cluster-enabled yes\ncluster-announce-ip 127.0.0.1\nsave ""', [], async (place, operator) => {
    await operator.sendCommand(["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    while (!String(await operator.sendCommand(["CLUSTER", "INFO"])).includes("cluster_state:ok")) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await use(place);
  });
}
