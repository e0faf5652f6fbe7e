// Shared code of the server programs in JavaScript: their arguments, and the handler.

import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { resolve } = createRequire(
  new URL("../../../bindings-wasm/package.json", import.meta.url),
);

/** Imports a package that the JavaScript binding installs. */
export const load = (name) => import(pathToFileURL(resolve(name)));

const { connect } = await load("fencepost");
const { createClient } = await load("redis");

const PIECE = "piece\n";

export const PORT = Number(process.argv[2]);
const [store, effectsAt] = process.argv.slice(3, 5);
const { scope, lease, on_lease_end, answer_within, wait, ...settings } =
  JSON.parse(process.argv[5]);

const ms = (seconds) => (seconds === undefined ? undefined : seconds * 1000);
const camel = (name) =>
  name.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase());
const known = (options) =>
  Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  );

const client = await connect(store);

/** The operations of the scope. */
export const payments = client.idempotency(
  scope,
  known({
    lease: ms(lease),
    answerWithin: ms(answer_within),
    onLeaseEnd: on_lease_end,
  }),
);

/** The options of the middleware, without the tenant. */
export const OPTIONS = {
  secret: "a secret of the suite",
  tokens: true,
  tokenPath: "/tokens",
  wait: ms(wait),
  ...Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [camel(name), value]),
  ),
};

const effects = createClient({ url: effectsAt });
await effects.connect();

/** Each waits on its own connection, because a blocking pop would delay other commands. */
async function atGate(id) {
  const own = effects.duplicate();
  await own.connect();
  await own.blPop(`http:${id}:gate`, 60);
  own.destroy();
}

async function* pieces(id, count, isGated) {
  for (let number = 0; number < count; number++) {
    if (isGated && number === count - 1) {
      await atGate(id);
    }
    yield PIECE;
  }
}

/** Runs the handler. Returns a status, headers, and a body, which is a generator if it is in pieces. */
export async function handle(url, body, claim) {
  const query = new URL(url, "http://localhost").searchParams;
  const id = query.get("id");
  const statuses = (query.get("statuses") ?? "201").split(",").map(Number);
  const [isGated, size, announced, count] = [
    query.get("gate") === "1",
    query.get("size"),
    query.get("announced"),
    Number(query.get("pieces") ?? 0),
  ];
  const run = await effects.incr(`http:${id}:runs`);
  if (isGated && count === 0) {
    await atGate(id);
  }
  const ofRun = (runs) => runs[Math.min(run, runs.length) - 1];
  const status = ofRun(statuses);
  if (status === 0) {
    throw new Error(`run ${run} of ${id}`);
  }
  const headers = {
    "Content-Type":
      size !== null || count > 0 ? "text/plain" : "application/json",
    Location: `/orders/${id}`,
    "Set-Cookie": `session=${run}`,
    "X-Run": String(run),
    ...(announced !== null && { "Content-Length": ofRun(announced.split(",")) }),
  };
  if (count > 0) {
    return { status, headers, body: pieces(id, count, isGated) };
  }
  const facts = {
    run,
    length: body.length,
    sha256: createHash("sha256").update(body).digest("hex"),
    takeovers: claim?.takeovers ?? null,
    derived: claim?.derive("charge") ?? null,
  };
  return {
    status,
    headers,
    body: size !== null ? "x".repeat(Number(size)) : JSON.stringify(facts),
  };
}

/** Stops at SIGTERM: accepts nothing, waits for all handlers, and closes the clients. */
export function stopAtTerm(closeServer, idle) {
  process.once("SIGTERM", async () => {
    await closeServer();
    await idle();
    await client.close();
    effects.destroy();
  });
}
