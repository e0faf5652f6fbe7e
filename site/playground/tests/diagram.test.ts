// The places of a diagram's messages.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LANE, diagram, wrapped } from "../story/diagram.js";
import type { Message } from "../story/server.js";

const message = (who: string, kind: Message["kind"], text: string): Message => ({
  at: 0,
  who,
  kind,
  text,
  reaches: kind === "event",
  isUpkeep: false,
});

test("requests go to the server, replies and events to the contender, each below the one before", () => {
  const messages = [
    message("B", "request", "sync"),
    message("B", "reply", "done"),
    message("A", "event", "the node before yours is gone, so look again"),
  ];
  const drawn = diagram([{ title: "B joins", messages }]);
  assert.deepEqual(
    drawn.lanes.map(({ name }) => name),
    ["server", "A", "B"],
  );
  const [server, a, b] = drawn.lanes.map(({ x }) => x);
  assert.deepEqual(
    drawn.arrows.map(({ from, to }) => [from, to]),
    [
      [b, server],
      [server, b],
      [server, a],
    ],
  );
  const ys = drawn.arrows.map(({ y }) => y);
  assert.deepEqual(
    ys,
    ys.toSorted((one, other) => one - other),
  );
  assert.ok(drawn.height > (ys.at(-1) ?? Infinity));
  assert.equal(drawn.width - (b ?? 0), server, "as much room at the right as at the left");
  assert.equal((b ?? 0) - (a ?? 0), LANE);
});

test("a cut connection is a mark on the contender's lifeline, because it is no message", () => {
  const drawn = diagram([{ title: "The connection of A is cut", messages: [message("A", "cut", "it is cut")] }]);
  const a = drawn.lanes.find(({ name }) => name === "A")?.x;
  assert.ok(a !== undefined);
  assert.deepEqual(
    drawn.arrows.map(({ from, to, kind }) => [from, to, kind]),
    [[a, a, "cut"]],
  );
});

test("no message: the diagram has its title and the server", () => {
  const drawn = diagram([{ title: "A pauses", messages: [] }]);
  assert.deepEqual(
    [drawn.lanes.length, drawn.arrows.length, drawn.bands.map(({ text }) => text)],
    [1, 0, ["A pauses"]],
  );
});

test("a long title has room", () => {
  const title = "A is killed, and its session ends (unfair lock)";
  const { width, bands } = diagram([{ title, messages: [] }]);
  assert.equal(bands[0]?.text, title);
  assert.ok(width > title.length * 8, String(width));
});

test("long texts are broken at spaces", () => {
  assert.deepEqual(wrapped("get and watch lock-0000000000 of A"), ["get and watch", "lock-0000000000 of A"]);
  assert.deepEqual(wrapped("x".repeat(40)), ["x".repeat(40)]);
});
