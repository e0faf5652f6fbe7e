// Sells the last items of a shop without selling one twice.
//
//     node examples/shop.mjs redis://localhost
//     node examples/shop.mjs zk://localhost:2181/shop
//     node examples/shop.mjs memory:

import { connect } from "fencepost";

/** The resource: it stores the highest fence that it has seen, and refuses lower ones. This makes the lock safe. */
const stock = {
  left: 3,
  fence: 0n,
  sell(fence) {
    if (fence < this.fence) throw new Error(`fence ${fence} comes after ${this.fence}`);
    this.fence = fence;
    this.left -= 1;
  },
};

const client = await connect(process.argv[2] ?? "memory:");
const lock = client.lock("stock/42");

async function buy() {
  return lock.using(async (grant) => {
    if (stock.left === 0) return "sold out";
    await new Promise((resolve) => setTimeout(resolve, 2));
    // A holder that has lost the lock in the meantime sells nothing.
    grant.signal.throwIfAborted();
    stock.sell(grant.fence);
    return "sold";
  });
}

const results = await Promise.all(Array.from({ length: 8 }, buy));
console.log(results.sort().join(", "));
await client.close();
