// The examples of the HTTP format that all languages share.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { bytesOfLine, hex, lineOfBytes } from "../dist/web/bytes.js";
import { bindingOf, fingerprints, recordKey, routeOf } from "../dist/web/fingerprint.js";
import { keyOf, tokenIn, tokenKey, tokenOf } from "../dist/web/key.js";
import { NAMES, problem, retryAfter } from "../dist/web/problems.js";
import { encoded, replayOf, STORED_HEADERS } from "../dist/web/response.js";
import { endOf, endsOf, namesOf } from "../dist/web/settings.js";
import { ConfigError } from "../dist/index.js";

const FORM = JSON.parse(readFileSync(new URL("../../tests/http.json", import.meta.url), "utf8"));

/** One test for all examples of a kind. None may be missing. */
function examples(kind, check) {
  test(kind, async () => {
    assert.ok(FORM[kind].length > 0);
    for (const example of FORM[kind]) {
      await check(example);
    }
  });
}

const reply = ({ status, headers, body }) => ({ status, headers, body: lineOfBytes(body) });

examples("keys", ({ lines, key }) => assert.equal(keyOf(lines.join(", ")), key, JSON.stringify(lines)));

examples("record_keys", async ({ tenant, key, record_key }) => {
  assert.equal(await recordKey(tenant, key), record_key);
});

examples("routes", ({ path, route }) => assert.equal(routeOf(path), route));

examples("fingerprints", async ({ secret, method, route, query, body, fingerprint }) => {
  const make = fingerprints(bytesOfLine(secret));
  assert.equal(hex(await make({ method, route, query, body: bytesOfLine(body) })), fingerprint);
});

examples("responses", ({ status, headers, body, stored, stored_headers = [], max_result = 262_144 }) => {
  const response = { status, headers, body: bytesOfLine(body) };
  assert.equal(lineOfBytes(encoded(response, namesOf(stored_headers), max_result)), stored);
});

examples("replays", ({ stored, status, headers, body }) => {
  assert.deepEqual(reply(replayOf(bytesOfLine(stored), "POST")), { status, headers, body });
});

examples("corrupt", (stored) => assert.equal(replayOf(bytesOfLine(stored), "POST"), null, JSON.stringify(stored)));

examples("ends", ({ status, ends = {}, end }) => assert.equal(endOf(status, endsOf(ends)), end));

examples("retry_after", ({ seconds, retry_after }) => {
  assert.equal(retryAfter(seconds === null ? null : seconds * 1000), retry_after);
});

examples("problems", ({ name, status, headers, body }) => {
  assert.deepEqual(reply(problem(name)), { status, headers, body });
});

test("all problems have an example", () => {
  assert.deepEqual(
    FORM.problems.map(({ name }) => name),
    NAMES,
  );
});

examples("tokens", ({ token, valid, record_key }) => {
  assert.equal(tokenOf(token), valid ? token : null, JSON.stringify(token));
  if (valid) {
    assert.equal(tokenKey(token), record_key);
  }
});

examples("forms", ({ body, token }) => assert.equal(tokenIn(bytesOfLine(body)), token, body));

examples("bindings", async ({ tenant, binding }) => assert.equal(hex(await bindingOf(tenant)), binding));

test("default_headers", () => assert.deepEqual(STORED_HEADERS, FORM.default_headers));

examples("forbidden_headers", (name) => {
  assert.throws(
    () => namesOf([name]),
    (error) => error instanceof ConfigError && error.kind === "invalid-option" && /storedHeaders/.test(error.message),
  );
});
