// Updates a stock by versions: a sale whose acknowledgement was lost is not counted twice.
//
//     node examples/stock.mjs
//     node examples/stock.mjs redis://localhost:6379
//     node examples/stock.mjs zk://localhost:2181/shop

import { Conflict, connect } from "fencepost";

const client = await connect(process.argv[2] ?? "memory:");
const stock = client.idempotency("stock");
// Each run of this example has another item.
const item = `item-${crypto.randomUUID()}`;
const pieces = (record) => Number(new TextDecoder().decode(record.result));

// Version 0: there is no value yet. Every update has an id, and a retry uses the same id.
const { record: first } = await stock.update(item, "10", { operation: "delivery-1", version: 0 });
console.log(`10 pieces, version ${first.version}`);

const sale = { operation: "sale-1", version: first.version };
const sold = await stock.update(item, "9", sale);
console.log(`sale 1: version ${sold.record.version}, replayed: ${sold.replayed}`);
// The acknowledgement was lost, so the till sends the same sale again.
const again = await stock.update(item, "9", sale);
console.log(`sale 1 again: version ${again.record.version}, replayed: ${again.replayed}`);

// Another till has seen the stock before sale 1.
try {
  await stock.update(item, "9", { operation: "sale-2", version: first.version });
} catch (error) {
  if (!(error instanceof Conflict)) throw error;
  const { version } = error.record;
  const left = pieces(error.record);
  console.log(`sale 2: ${error.kind}, ${left} pieces are left in version ${version}`);
  await stock.update(item, String(left - 1), { operation: "sale-2", version });
}

const present = await stock.look(item);
console.log(`${pieces(present)} pieces, version ${present.version}`);
await client.close();
