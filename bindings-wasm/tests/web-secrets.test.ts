/** Changes of the secret: the examples that all languages share. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";

import { issueToken } from "fencepost/web/express";

import { eachExpress, replayed, tenant } from "./support/express.js";

interface Example {
  readonly stored: string;
  readonly secrets: readonly string[];
  readonly accepted: boolean;
}

const FORM = new URL("../../../tests/http.json", import.meta.url);
const { secrets: examples } = JSON.parse(readFileSync(FORM, "utf8")) as { secrets: readonly Example[] };

eachExpress("older secrets", (servers) => {
  for (const [nth, { stored, secrets, accepted }] of examples.entries()) {
    it(`example ${nth}: ${accepted ? "accepted" : "refused"}`, async () => {
      let runs = 0;
      const path = (secret: string | readonly string[]) =>
        servers.serving((_request, response) => void response.status(201).end(`run ${(runs += 1)}`), {
          options: { secret, tokens: true },
        });
      const [{ order }, now] = [await path(stored), await path(secrets)];
      const token = { "Idempotency-Token": await issueToken(servers.payments, tenant()) };
      for (const more of [{}, token]) {
        const first = await order.post(undefined, more);
        const retry = await now.order.post(undefined, { "Idempotency-Key": order.key, ...more });
        assert.deepEqual(
          [first.status, retry.status, replayed(retry)],
          [201, ...(accepted ? [201, true] : [422, false])],
        );
        assert.equal(retry.text === first.text, accepted);
        // Another request never runs.
        const other = await now.order.post("another body", { "Idempotency-Key": order.key, ...more });
        assert.equal(other.status, 422);
      }
      assert.equal(runs, 2);
    });
  }
});
