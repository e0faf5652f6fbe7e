// The other kinds of locks on ZooKeeper: readers and writers, leaders and permits; and a list of a lock's holders.
//
//     node examples/recipes.mjs zk://localhost:2181/shop
//     node examples/recipes.mjs memory:

import { connect } from "fencepost";

const client = await connect(process.argv[2] ?? "memory:");

// Readers share the lock; a writer holds it alone.
const prices = client.readWriteLock("prices");
const readers = [await prices.reader.acquire(), await prices.reader.acquire()];
const writing = prices.writer.using(() => "the writer came last");
console.log(`${readers.length} readers`);
await Promise.all(readers.map((grant) => grant.release()));
console.log(await writing);

// Candidates lead one after another, for as long as their terms last.
const lead = async (who) => {
  const term = await client.election("scheduler", { identifier: who }).campaign();
  const [leader] = await client.election("scheduler").contenders();
  console.log(`${leader.identifier} leads`);
  await term.release();
};
await lead("one");
await lead("another");

// At most two print at a time.
let printing = 0;
let most = 0;
const presses = client.semaphore("presses", 2);
await Promise.all(
  Array.from({ length: 6 }, () =>
    presses.using(async () => {
      printing += 1;
      most = Math.max(most, printing);
      await new Promise((resolve) => setTimeout(resolve, 2));
      printing -= 1;
    }),
  ),
);
console.log(most <= 2 ? "two presses are enough" : `${most} at a time`);

// A holder gets a request for its lock, and releases it when it can.
const till = client.lock("stock/42", { revocable: true });
const grant = await till.acquire();
const [holder] = await till.contenders();
await till.revoke(holder);
while (!grant.isRevokeRequested) {
  await new Promise((resolve) => setTimeout(resolve, 2)); // working
}
await grant.release();
console.log("given back when asked");

await client.close();
