// Stories on the real core and the server of `memory:`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readStory } from "../story/actions.js";
import { type View, play } from "../story/play.js";
import { PREPARED } from "../story/prepared.js";

const played = (text: string): View => play(readStory(text));
const last = ({ steps }: View): string => steps.at(-1)?.sentences.join(" ") ?? "";
const line = ({ locks: [fair] }: View): string[] => fair?.contenders.map(({ who, phase }) => `${who} ${phase}`) ?? [];
const woken = ({ steps }: View, lock: "fair" | "unfair" = "fair"): string =>
  steps.at(-1)?.happened[lock]?.woken.join() ?? "";

for (const { title, text } of PREPARED) {
  test(`the prepared story "${title}" is possible, and always the same`, () => {
    const story = readStory(text);
    const whole = play({ ...story, at: story.actions.length });
    assert.equal(whole.problem, null);
    assert.equal(whole.steps.length, story.actions.length);
    assert.deepEqual(play({ ...story, at: story.actions.length }), whole);
    for (let at = 0; at < story.actions.length; at++) {
      assert.deepEqual(play({ ...story, at }).steps, whole.steps.slice(0, at));
    }
  });
}

test("the first holds, the others wait for the node before theirs", () => {
  const view = played("lock/join-A,join-B,join-C");
  assert.deepEqual(line(view), ["A holding", "B waiting", "C waiting"]);
  assert.deepEqual(
    view.locks[0]?.contenders.map(({ watches }) => watches),
    [null, "the node of A", "the node of B"],
  );
  assert.deepEqual(
    view.locks[1]?.contenders.map(({ watches }) => watches),
    [null, "the node of A", "the node of A"],
  );
});

test("a killed waiter wakes the one behind it, and nobody else", () => {
  const view = played("lock/join-A,join-B,join-C,join-D,kill-B");
  assert.equal(woken(view), "C");
  assert.deepEqual(line(view), ["A holding", "C waiting", "D waiting", "B ended"]);
  assert.equal(view.locks[0]?.contenders[1]?.watches, "the node of A");
});

test("a waiter that leaves wakes the one behind it", () => {
  const view = played("lock/join-A,join-B,join-C,leave-B");
  assert.equal(woken(view), "C");
  assert.deepEqual(line(view), ["A holding", "C waiting", "B away"]);
});

test("one release of the unfair lock wakes all waiters", () => {
  const view = played("lock/join-A,join-B,join-C,join-D,release-A-unfair");
  assert.equal(woken(view, "unfair").split(",").sort().join(), "B,C,D");
  assert.equal(woken(view), "");
});

test("a short pause loses nothing, a long one loses the grant", () => {
  assert.deepEqual(line(played("lock/join-A,join-B,pause-A,resume-A")), ["A holding", "B waiting"]);
  const long = played("lock/join-A,join-B,pause-A,wait");
  assert.deepEqual(line(long), ["B holding", "A holding"], "A has not heard of it");
  const [, paused] = long.locks[0]?.contenders ?? [];
  assert.deepEqual([paused?.isPaused, paused?.hasSession, paused?.node], [true, false, null]);
  const resumed = played("lock/join-A,join-B,pause-A,wait,resume-A");
  assert.deepEqual(line(resumed), ["B holding", "A away"]);
  assert.match(last(resumed), /A learns that its grant is lost/);
});

test("a paused waiter whose session ends begins again at the end of the line", () => {
  const view = played("lock/join-A,join-B,join-C,pause-B,wait,resume-B");
  assert.deepEqual(line(view), ["A holding", "C waiting", "B waiting"]);
});

test("time alone ends no session", () => {
  const view = played("lock/join-A,join-B,wait,wait,wait");
  assert.deepEqual(line(view), ["A holding", "B waiting"]);
  const messages = view.steps.at(-1)?.happened.fair?.messages ?? [];
  assert.ok(messages.filter(({ isUpkeep }) => isUpkeep).length > 8, String(messages.length));
  // The core looks again, now and then, at what it watches.
  assert.ok(messages.every(({ isUpkeep, text }) => isUpkeep || /^(get|node of session) /.test(text)));
});

test("the shop refuses a late write, and the late read of a fence", () => {
  const late = "join-A,join-B,look-A,pause-A,wait,look-B";
  const write = played(`lock/${late},resume-A,sell-A`);
  assert.match(last(write), /refuses the write of A: fence \d+ is lower than \d+/);
  assert.deepEqual([write.shop?.stock, write.shop?.refused, write.shop?.oversold], [1, 1, 0]);
  const sold = played(`lock/check-off,${late},sell-B,resume-A,sell-A`);
  assert.deepEqual([sold.shop?.sales.length, sold.shop?.oversold], [2, 1]);
});

test("a killed contender joins with a new session and a higher fence", () => {
  const [before, after] = ["lock/join-A", "lock/join-A,kill-A,join-A"].map(
    (text) => played(text).locks[0]?.contenders[0]?.fence ?? null,
  );
  assert.ok(before !== null && after !== null && before !== undefined && after !== undefined && after > before);
});

const IMPOSSIBLE: readonly (readonly [string, RegExp])[] = [
  ["lock/join-A,join-A", /action 2 is "join-A".*A is there already/],
  ["lock/release-A", /A does not hold the lock/],
  ["lock/join-A,leave-A", /A does not wait/],
  ["lock/kill-A", /A has no session/],
  ["lock/join-A,kill-A,kill-A", /A has no session/],
  ["lock/join-A,pause-A,release-A", /A is paused/],
  ["lock/join-A,resume-A", /A is not paused/],
  ["lock/join-A,sell-A", /A has not read the stock/],
  ["lock/join-A,look-A,sell-A,look-A,sell-A", /nothing is left/],
  ["lock/join-A,join-B,look-B", /B does not hold the lock of the shop/],
  ["lock/check-on", /checks fences already/],
  ["read-write/join-A-reader,look-A,sell-A", /a reader does not write/],
  ["semaphore-1/check-off", /a semaphore guards no shop/],
  ["semaphore-1/join-A,look-A", /does not hold the lock of the shop/],
];

for (const [text, says] of IMPOSSIBLE) {
  test(`${text} ends with a reason`, () => {
    const view = played(text);
    assert.match(view.problem ?? "", says);
    assert.equal(view.steps.length, readStory(text).actions.length - 1);
  });
}
