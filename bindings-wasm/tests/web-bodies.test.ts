/** Empty bodies without a `Content-Length`: the middleware for Node.js reads them and puts them back. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request as send } from "node:http";
import { connect as http2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { it } from "node:test";

import { fastify } from "fastify";
import { connect } from "fencepost";
import { idempotent } from "fencepost/web/fastify";

import { fresh } from "./support/backends.js";
import { eachExpress, replayed } from "./support/express.js";
import { eventually } from "./support/servers.js";
import { Moment, SECRET, portOf } from "./support/web.js";

const LIMIT = 90_000;

/** When the end of the body comes. */
type When = "with the head" | "before the middleware" | "after the middleware has begun to read";
const WHENS: readonly When[] = ["with the head", "before the middleware", "after the middleware has begun to read"];

/** Makes the client send the end of its request at the chosen time. */
class Course {
  readonly when: When;
  readonly #goOn = new Moment();

  constructor(when: When) {
    this.when = when;
  }

  /** The server's middleware before fencepost's. */
  readonly before = async (request: IncomingMessage) => {
    if (this.when === "before the middleware") {
      this.#goOn.happen();
      await eventually(LIMIT, "the end of the request", () => request.complete);
    }
  };

  /** The middleware calls it just before it reads. */
  readonly covers = () => {
    this.#goOn.happen();
    return true;
  };

  /** Sends the request twice: the handler runs once, and sees an empty body. */
  async check(port: number): Promise<void> {
    const headers = { "Transfer-Encoding": "chunked", "Content-Type": "text/plain", "Idempotency-Key": fresh() };
    for (const isReplay of [false, true]) {
      const request = send({ port, method: "POST", headers, agent: false });
      if (this.when !== "with the head") {
        request.flushHeaders();
        await this.#goOn.come;
      }
      request.end();
      const [response] = (await once(request, "response")) as [IncomingMessage];
      const [body] = (await once(response, "data")) as [Buffer];
      assert.deepEqual([response.statusCode, String(body), replayed(response)], [200, "0 bytes", isReplay]);
    }
  }
}

for (const when of WHENS) {
  eachExpress(`an empty body whose end comes ${when}`, (servers) => {
    it("is no client that hangs up", async () => {
      const course = new Course(when);
      const { port } = await servers.serving(
        (request, response) => {
          const body = request.body as Buffer | undefined;
          response.send(`${body?.length ?? 0} bytes`);
        },
        {
          before: [(request, _response, next) => void course.before(request).then(() => next(), next)],
          between: [servers.make.raw({ type: () => true })],
          options: { covers: course.covers },
        },
      );
      await course.check(port);
    });
  });

  it(`Fastify: an empty body whose end comes ${when} is no client that hangs up`, async () => {
    const client = await connect("memory:");
    const app = fastify({ forceCloseConnections: true });
    const course = new Course(when);
    app.addHook("onRequest", ({ raw }) => course.before(raw));
    const options = { scope: () => "shop-7", secret: SECRET, covers: course.covers };
    await app.register(idempotent(client.idempotency(fresh()), options));
    app.post("/", ({ body }) => `${(body as string).length} bytes`);
    await app.listen({ host: "127.0.0.1", port: 0 });
    try {
      await course.check(await portOf(app.server));
    } finally {
      await app.close();
      await client.close();
    }
  });
}

it("HTTP/2: an empty body is no client that hangs up", async () => {
  const client = await connect("memory:");
  const app = fastify({ http2: true });
  await app.register(idempotent(client.idempotency(fresh()), { scope: () => "shop-7", secret: SECRET }));
  app.post("/", ({ body }) => `${(body as string).length} bytes`);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const session = http2(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
  try {
    const headers = { ":method": "POST", ":path": "/", "idempotency-key": fresh(), "content-type": "text/plain" };
    for (const isReplay of [false, true]) {
      const request = session.request(headers, { endStream: false });
      request.end();
      const [response] = (await once(request, "response")) as [Record<string, unknown>];
      const [body] = (await once(request, "data")) as [Buffer];
      const facts = [response[":status"], String(body), "idempotent-replayed" in response];
      assert.deepEqual(facts, [200, "0 bytes", isReplay]);
    }
  } finally {
    session.destroy();
    await app.close();
    await client.close();
  }
});
