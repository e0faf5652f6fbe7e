/** Types of frameworks, in the form of other versions of `@types/node`. */

import assert from "node:assert/strict";
import { it } from "node:test";

import type { Request } from "express";
import type { FastifyRequest } from "fastify";
import { connect } from "fencepost";
import { idempotent as forExpress } from "fencepost/web/express";
import { idempotent as forFastify } from "fencepost/web/fastify";

import { SECRET } from "./support/web.js";

/** From version 25 on, the methods for listeners know the arguments of each event. */
interface Listening {
  on<E extends keyof Events>(event: E, listener: (...parameters: Events[E]) => void): this;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  on(event: string | symbol, listener: (...parameters: any[]) => void): this;
  removeListener<E extends keyof Events>(event: E, listener: (...parameters: Events[E]) => void): this;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  removeListener(event: string | symbol, listener: (...parameters: any[]) => void): this;
}

interface Events {
  close: [];
  error: [error: Error];
}

type Later<T> = Omit<T, keyof Listening> & Listening;

it("requests of later types are requests", async (context) => {
  const client = await connect("memory:");
  context.after(() => client.close());
  const payments = client.idempotency("payments");
  const express = forExpress<Later<Request>>(payments, { scope: ({ path }) => path, secret: SECRET });
  type Of<T extends FastifyRequest> = Omit<T, "raw"> & { raw: Later<T["raw"]> };
  const fastify = forFastify<Of<FastifyRequest>>(payments, { scope: ({ ip }) => ip, secret: SECRET });
  assert.deepEqual(await Promise.all([express.idle(), fastify.idle()]), [true, true]);
});
