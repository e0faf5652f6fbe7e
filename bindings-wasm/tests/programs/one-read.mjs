// Thousands of replies arrive in one read, as in a busy program: `one-read.mjs HOST:PORT PREFIX`.

import { once } from "node:events";

import zookeeper from "node-zookeeper-client";

import { fromZooKeeper } from "../../dist/index.js";

/** As many as fit into a read of 64 KiB. */
const CROWD = 3000;
/** The size of the reply to a delete, in bytes: length, number, transaction, no error. */
const ANSWER = 20;

const [at, prefix] = process.argv.slice(2);
const own = zookeeper.createClient(at, { sessionTimeout: 20_000 });
own.connect();
const client = fromZooKeeper(own, { prefix });
const crowd = Array.from({ length: CROWD }, (_, index) => client.lock(`stock/${index}`));
const grants = await Promise.all(crowd.map((lock) => lock.acquire()));
const { socket } = own.connectionManager;
const [read] = socket.listeners("data");
const arrived = [];
const keep = (bytes) => arrived.push(bytes);
socket.removeListener("data", read);
socket.on("data", keep);
const released = grants.map((grant) => grant.release());
while (arrived.reduce((sum, { length }) => sum + length, 0) < CROWD * ANSWER) {
  await once(socket, "data");
}
socket.removeListener("data", keep);
socket.on("data", read);
read(Buffer.concat(arrived));
await Promise.all(released);
await client.close();
own.close();
process.stdout.write(`released ${released.length}\n`);
