/** Tests with two clients on one kind of server. */

import { it } from "node:test";

import type { Client } from "fencepost";

import type { Backend } from "./backends.js";

export type Body = (a: Client, b: Client, backend: Backend) => Promise<void>;

/** Makes tests. Each test has its own two clients, which are closed after it. */
export function onPairs(make: () => Promise<Backend>): (title: string, body: Body) => void {
  return (title, body) =>
    void it(title, { timeout: 90_000 }, async () => {
      const backend = await make();
      const [a, b] = [await backend.client(), await backend.client()];
      try {
        await body(a, b, backend);
      } finally {
        await a.close();
        await b.close();
        await backend.close();
      }
    });
}
