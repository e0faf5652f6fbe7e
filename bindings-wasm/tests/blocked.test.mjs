// A program that computes for seconds blocks the event loop. This must not count as a failure of the server.

import { test } from "node:test";

import { connect } from "../dist/index.js";
import { backends, unique, within } from "./servers.mjs";

/** Blocks the event loop for `time` ms, as a long computation does. */
const block = (time) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, time);

/** The time after which node-redis ends a connection attempt, in ms. */
const LIBRARY_WITHIN = 5000;

test("the first acquire succeeds, although node-redis has given up its connection meanwhile", async (t) => {
  const client = await connect(backends["redis:"]());
  t.after(() => client.close());
  const acquiring = client.lock(unique("blocked")).acquire();
  block(LIBRARY_WITHIN + 300);
  const grant = await within(acquiring, "the grant");
  await grant.release();
});
