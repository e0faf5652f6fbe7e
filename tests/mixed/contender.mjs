// The contender in JavaScript: see README.md.

import { once } from "node:events";
import { createConnection } from "node:net";
import { createInterface } from "node:readline";

import { connect, LockLost } from "../../bindings-wasm/dist/node/index.mjs";

const [url, name, rounds, host, port, ttl] = process.argv.slice(2);
const socket = createConnection({ host, port: Number(port), noDelay: true });
await once(socket, "connect");
const lines = createInterface({ input: socket })[Symbol.asyncIterator]();

async function ask(line) {
  socket.write(line + "\n");
  return (await lines.next()).value;
}

let [done, stale, lost] = [0, 0, 0];
const client = await connect(url);
const lock = client.lock(name, ttl === undefined ? {} : { ttl: Number(ttl) });
while (done < Number(rounds)) {
  try {
    await lock.using(async (grant) => {
      const value = await ask(`read ${grant.fence}`);
      if (value === "stale" || (await ask(`write ${grant.fence} ${Number(value) + 1}`)) === "stale") stale += 1;
      else done += 1;
    });
  } catch (error) {
    if (!(error instanceof LockLost)) throw error;
    lost += 1;
  }
}
await client.close();
socket.end();
console.log(JSON.stringify({ done, stale, lost }));
