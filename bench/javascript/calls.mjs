// A function that runs once for each key: its first call, or a replay. Each is an acquire; there is no release.

import { nodeRedis, powertools } from "./libraries.mjs";

/** The function's result: 1 KiB as JSON. */
const RESULT = "r".repeat(1022);
/** How long a result is kept, in seconds: short, because there are many. The result of replays is kept for longer than
 * a run. */
const KEPT = 10;
const KEPT_LONG = 3600;

/** Calls with `fencepost` or with a `peer`: first calls, or replays. */
export async function calls(whose, first, address, scope) {
  const { pay, close } = await (whose === "peer" ? ofPowertools : ofFencepost)(
    address,
    scope,
    first ? KEPT : KEPT_LONG,
  );
  let number = 0;
  const next = () => {
    number += 1;
    return { id: `${scope}-${process.pid}-${number}` };
  };
  const order = next();
  await pay(order);
  return {
    async acquire() {
      if ((await pay(first ? next() : order)) !== RESULT) throw new Error("not the result");
    },
    release: async () => undefined,
    close,
  };
}

async function ofFencepost(address, scope, kept) {
  const { connect } = await import("../../bindings-wasm/dist/node/index.mjs");
  const client = await connect(address.url);
  const payments = client.idempotency(scope, { lease: 10_000, retention: kept * 1000 });
  const pay = payments.once(async () => RESULT, { key: ({ id }) => id });
  return { pay, close: () => client.close() };
}

/** Powertools for AWS Lambda, with its layer for caches. */
async function ofPowertools(address, scope, kept) {
  const { makeIdempotent, IdempotencyConfig, CachePersistenceLayer } = powertools();
  const client = await nodeRedis(address);
  // Powertools reads the function's deadline from it.
  const lambdaContext = { getRemainingTimeInMillis: () => 10_000 };
  const pay = makeIdempotent(async () => RESULT, {
    persistenceStore: new CachePersistenceLayer({ client }),
    config: new IdempotencyConfig({ expiresAfterSeconds: kept, lambdaContext }),
  });
  return { pay, close: () => client.close() };
}
