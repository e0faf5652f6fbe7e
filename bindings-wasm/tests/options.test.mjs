// The table of options that all languages share: settings that the core accepts, and settings that it refuses.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { zooKeeperModule } from "../dist/hub/families/zookeeper.js";
import { ConfigError, Settings, connect } from "../dist/index.js";

const rows = JSON.parse(readFileSync(new URL("../../tests/options.json", import.meta.url), "utf8"));

/** Whether an option is a duration: the table has them in microseconds. */
const isDuration = (name) => zooKeeperModule().optionType(name) === 1;

const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

/** The row in JavaScript's form: names in camel case, durations in ms. */
function data({ server, kind, options }) {
  const entries = Object.entries(options).map(([name, value]) => [
    camel(name),
    isDuration(name) ? value / 1000 : value,
  ]);
  return { server, kind, ...Object.fromEntries(entries) };
}

/** The part of an error's text, with JavaScript's names instead of the core's. */
const inOwnWords = (text) => text.replace(/(max|answer|node)_(hold|within|prefix)/g, camel);

const config = (kind, says) => (error) => {
  assert.ok(error instanceof ConfigError, String(error));
  assert.equal(error.kind, kind, error.message);
  assert.ok(error.message.includes(says), error.message);
  assert.doesNotMatch(error.message, /(?<!")\b(max_hold|answer_within|node_prefix|read_write_lock|multi_lock)\b/);
  return true;
};

for (const row of rows) {
  const { error, says, ...given } = row;
  if (error === undefined) {
    test(`settings are accepted: ${JSON.stringify(given)}`, () => {
      new Settings(data(row));
      const inspection = { ...data(row), action: "list" };
      if (row.kind === "multi-lock") {
        assert.throws(() => new Settings(inspection), config("unknown-option", "contenders"));
      } else {
        new Settings(inspection);
      }
    });
  } else {
    test(`settings are refused as ${error}: ${JSON.stringify(given)}`, () => {
      assert.throws(() => new Settings(data(row)), config(error, inOwnWords(says)));
    });
  }
}

test("errors have the names that JavaScript writes, and leave the user's own texts alone", async (t) => {
  const client = await connect("memory:");
  t.after(() => client.close());
  assert.throws(() => new Settings({ server: "redis", kind: "lock", name: "x", nodePrefix: "n" }), {
    message: /^unknown option "nodePrefix": .* maxHold, answerWithin, owner$/,
  });
  assert.throws(() => new Settings({ server: "redis", kind: "reader", name: "x" }), /"readWriteLock": /);
  assert.throws(() => new Settings({ server: "redis", kind: "multi-lock", names: ["x"] }), /"multiLock": /);
  assert.throws(() => client.lock("max_hold/"), /"max_hold\/"/);
  assert.throws(() => client.lock("x", { layout: "max_hold" }), /layout is "max_hold"/);
  assert.throws(() => client.lock("x", { max_hold: 5 }), config("unknown-option", "write maxHold"));
  assert.throws(() => client.lock("x", { maxHolt: 5 }), config("unknown-option", '"maxHolt"'));
});

test("a client sets what is no option itself", async (t) => {
  const client = await connect("memory:");
  t.after(() => client.close());
  const isSet = (option) => config("unknown-option", `"${option}"`);
  for (const option of ["name", "kind", "server", "prefix", "action", "node", "fence"]) {
    assert.throws(() => client.lock("x", { [option]: "y" }), isSet(option));
  }
  for (const options of [{ names: ["y"] }, { of: "mutex" }, { permits: 2 }, { misspelt: 1 }, { misspelt: undefined }]) {
    assert.throws(() => client.lock("x", options), isSet(Object.keys(options)[0]));
  }
  assert.throws(() => client.semaphore("x", 2, { permits: 3 }), isSet("permits"));
  assert.throws(() => client.multiLock(["x"], { names: ["y"] }), isSet("names"));
  assert.throws(() => client.multiLock(["x"], { name: "y" }), isSet("name"));
  for (const option of ["owner", "fair"]) {
    assert.throws(() => client.lock("x", { [option]: null }), config("unreadable-settings", option));
  }
});

test("values of another type are refused by what the core says of an option", () => {
  const lock = { server: "memory", kind: "lock", name: "x" };
  for (const [option, value, expected] of [
    ["maxHold", "5", "milliseconds"],
    ["answerWithin", 5n, "milliseconds"],
    ["fair", "no", "true or false"],
    ["identifier", 7, "a string"],
    ["kind", 7, "a string"],
    ["server", true, "a string"],
    ["fence", 7, "a BigInt"],
    ["permits", 1.5, "a whole number"],
    ["names", "x", "a list of strings"],
  ]) {
    assert.throws(() => new Settings({ ...lock, [option]: value }), config("unreadable-settings", expected));
  }
});
