// Express.

import {
  OPTIONS,
  PORT,
  handle,
  load,
  payments,
  stopAtTerm,
} from "./common.mjs";

const { default: express } = await load(
  process.env.FENCEPOST_EXPRESS ?? "express",
);
const { claimOf, idempotent } = await load("fencepost/web/express");

const app = express();
app.disable("x-powered-by");
app.get("/ready", (_request, response) => void response.end());
const once = idempotent(payments, {
  scope: (request) => request.get("x-tenant"),
  ...OPTIONS,
});
app.use(once);
app.use(express.raw({ type: () => true, limit: "1mb" }));
app.use("/run", (request, response, next) => {
  answer(request, response).catch(next);
});
const server = app.listen(PORT, "127.0.0.1");
stopAtTerm(
  () => new Promise((resolve) => void server.close(resolve)),
  once.idle,
);

async function answer(request, response) {
  const read =
    request.body instanceof Uint8Array ? request.body : new Uint8Array();
  const { status, headers, body } = await handle(
    request.originalUrl,
    read,
    claimOf(request),
  );
  response.status(status).set(headers);
  if (typeof body === "string") {
    response.send(body);
    return;
  }
  for await (const piece of body) {
    response.write(piece);
  }
  response.end();
}
