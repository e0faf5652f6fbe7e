// Fastify.

import { Readable } from "node:stream";

import {
  OPTIONS,
  PORT,
  handle,
  load,
  payments,
  stopAtTerm,
} from "./common.mjs";

const { default: fastify } = await load("fastify");
const { claimOf, idempotent } = await load("fencepost/web/fastify");

const app = fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser(
  "*",
  { parseAs: "buffer" },
  (_request, body, done) => void done(null, body),
);
app.get("/ready", (_request, reply) => reply.send());
const once = idempotent(payments, {
  scope: (request) => request.headers["x-tenant"],
  ...OPTIONS,
});
app.register(once);
app.register((routes, _options, done) => {
  for (const url of ["/run", "/run/*"]) {
    routes.all(url, answer);
  }
  done();
});
await app.listen({ port: PORT, host: "127.0.0.1" });
stopAtTerm(() => app.close(), once.idle);

async function answer(request, reply) {
  const { status, headers, body } = await handle(
    request.originalUrl,
    request.body ?? new Uint8Array(),
    claimOf(request),
  );
  reply.code(status).headers(headers);
  return reply.send(
    typeof body === "string"
      ? body
      : Readable.from(body, { objectMode: false }),
  );
}
