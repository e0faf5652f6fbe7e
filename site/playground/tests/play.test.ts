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

test("a killed waiter wakes the one behind it, and no other", () => {
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
  assert.deepEqual(line(long), ["B holding", "A holding"], "A does not know of its loss yet");
  const [, paused] = long.locks[0]?.contenders ?? [];
  assert.deepEqual([paused?.isPaused, paused?.hasSession, paused?.node], [true, false, null]);
  const resumed = played("lock/join-A,join-B,pause-A,wait,resume-A");
  assert.deepEqual(line(resumed), ["B holding", "A away"]);
  assert.match(last(resumed), /A learns that its grant is lost/);
});

test("a paused waiter whose session ends begins again at the end of the queue", () => {
  const view = played("lock/join-A,join-B,join-C,pause-B,wait,resume-B");
  assert.deepEqual(line(view), ["A holding", "C waiting", "B waiting"]);
});

test("a connection that is cut keeps its node, and goes on after a reconnect in time", () => {
  const cut = played("lock/join-A,join-B,cut-A");
  assert.deepEqual(line(cut), ["A holding", "B waiting"]);
  const [one] = cut.locks[0]?.contenders ?? [];
  assert.deepEqual([one?.isCut, one?.hasSession, one?.node === null], [true, true, false]);
  assert.match(last(cut), /A is no longer sure that it holds/);
  const seen = cut.steps.at(-1)?.happened.fair?.messages.map(({ who, kind, text }) => `${who} ${kind} ${text}`);
  assert.deepEqual(seen, ["A cut the connection is cut"], "the server sends nothing");
  const back = played("lock/join-A,join-B,cut-A,reconnect-A,wait");
  assert.deepEqual(line(back), ["A holding", "B waiting"], "no session ends later because of that cut");
  assert.match(back.steps[3]?.sentences.join() ?? "", /in the same session\. A is sure again that it holds/);
  assert.equal(back.locks[0]?.contenders[0]?.fence, one?.fence);
});

test("a cut holder ends its grant by its own clock, before another one gets the lock", () => {
  const view = played("lock/join-A,join-B,cut-A,wait");
  assert.deepEqual(line(view), ["B holding", "A away"], "a paused holder would still believe that it holds");
  assert.match(last(view), /A ends its grant by its own clock .*it ends its session\..*B holds the lock/);
  const gone = view.locks[0]?.contenders[1];
  assert.deepEqual([gone?.isCut, gone?.hasSession, gone?.node], [true, false, null]);
  const ends = (view.steps.at(-1)?.sentences.join() ?? "").match(/it ends its session/g);
  assert.equal(ends?.length, 1);
  assert.deepEqual(last(played("lock/join-A,join-B,cut-A,wait,cut-B,reconnect-B,wait")), "");
  const back = played("lock/join-A,join-B,cut-A,wait,reconnect-A");
  assert.match(last(back), /A has a connection again, in a new session/);
  assert.equal(back.locks[0]?.contenders[1]?.hasSession, true);
  const again = played("lock/join-A,join-B,cut-A,wait,reconnect-A,join-A,release-B");
  assert.deepEqual(line(again), ["A holding", "B away"]);
});

test("a cut waiter begins again at the end of the queue if its session has ended", () => {
  const lines = ["wait,reconnect-B", "reconnect-B,wait"].map((end) =>
    line(played(`lock/join-A,join-B,join-C,cut-B,${end}`)),
  );
  assert.deepEqual(lines, [
    ["A holding", "C waiting", "B waiting"],
    ["A holding", "B waiting", "C waiting"],
  ]);
});

test("a cut contender that pauses, too: its session ends a minute after the cut", () => {
  const view = played("lock/join-A,join-B,cut-A,pause-A,wait");
  assert.deepEqual(line(view), ["B holding", "A holding"], "A has run no code");
  const event = view.steps.at(-1)?.happened.fair?.messages.find(({ who, kind }) => who === "B" && kind === "event");
  assert.equal(event?.at, 62_000, "the cut was at 2 s, the pause at 3 s");
  const resumed = played("lock/join-A,join-B,cut-A,pause-A,wait,resume-A");
  assert.match(last(resumed), /A ends its grant by its own clock/);
  assert.equal(resumed.locks[0]?.contenders[1]?.isCut, true);
});

test("a cut contender that releases, leaves or joins: the server learns of it after the reconnect", () => {
  const released = played("lock/join-A,join-B,cut-A,release-A");
  assert.match(last(released), /A cannot send this to the server/);
  const [one] = released.locks[0]?.contenders ?? [];
  assert.deepEqual([one?.isPending, one?.verbs], [true, ["kill", "pause", "reconnect"]]);
  assert.deepEqual(line(played("lock/join-A,join-B,cut-A,release-A,reconnect-A")), ["B holding", "A away"]);
  const left = played("lock/join-A,join-B,cut-B,leave-B,join-B");
  assert.match(last(left), /B cannot send this to the server/);
  assert.equal(left.locks[0]?.contenders[1]?.watches, null);
  assert.deepEqual(line(played("lock/join-A,join-B,cut-B,leave-B,join-B,reconnect-B")), ["A holding", "B waiting"]);
});

test("a killed contender's cut goes with it", () => {
  const view = played("lock/join-A,cut-A,kill-A,join-A,wait");
  assert.deepEqual(line(view), ["A holding"]);
  assert.equal(view.locks[0]?.contenders[0]?.isCut, false);
});

test("a downgrade: the readers right behind get the lock, and the writer after them waits", () => {
  const story = "read-write/join-A,join-B-reader,join-C-reader,join-D,join-E-reader";
  const before = played(story).locks[0]?.contenders[0];
  const view = played(`${story},downgrade-A`);
  assert.deepEqual(line(view), ["A holding", "B holding", "C holding", "D waiting", "E waiting"]);
  assert.equal(woken(view).split(",").sort().join(), "B,C");
  const [one] = view.locks[0]?.contenders ?? [];
  assert.deepEqual([one?.role, one?.fence, one?.isPending], ["reader", before?.fence, false]);
  assert.ok(!one?.verbs.includes("downgrade"));
  const released = played(`${story},downgrade-A,release-A`);
  assert.equal(woken(released), "", "the reader's node is A's own");
  assert.deepEqual(line(released), ["B holding", "C holding", "D waiting", "E waiting", "A away"]);
});

test("a writer that comes after a downgrade watches the reader's node", () => {
  const view = played("read-write/join-A,downgrade-A,join-B");
  assert.equal(view.locks[0]?.contenders[1]?.watches, "the node of A");
  assert.match(last(played("read-write/join-A,downgrade-A,join-B,release-A")), /B holds the lock/);
});

test("a downgrade while the connection is cut happens after the reconnect", () => {
  const story = "read-write/join-A,join-B-reader,cut-A,downgrade-A";
  assert.deepEqual(line(played(story)), ["A holding", "B waiting"]);
  assert.deepEqual(line(played(`${story},reconnect-A`)), ["A holding", "B holding"]);
  assert.deepEqual(line(played(`${story},wait`)), ["B holding", "A away"]);
});

test("time alone ends no session", () => {
  const view = played("lock/join-A,join-B,wait,wait,wait");
  assert.deepEqual(line(view), ["A holding", "B waiting"]);
  const messages = view.steps.at(-1)?.happened.fair?.messages ?? [];
  assert.ok(messages.filter(({ isUpkeep }) => isUpkeep).length > 8, String(messages.length));
  // Now and then, the core rechecks the node that it watches.
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
  ["lock/cut-A", /A has no session/],
  ["lock/join-A,cut-A,cut-A", /connection of A is cut already/],
  ["lock/join-A,reconnect-A", /connection of A is not cut/],
  ["lock/join-A,kill-A,reconnect-A", /connection of A is not cut/],
  ["lock/join-A,kill-A,cut-A", /A has no session/],
  ["lock/join-A,pause-A,cut-A", /A is paused/],
  ["lock/join-A,cut-A,release-A,release-A", /A waits for the server/],
  ["read-write/join-A-reader,downgrade-A", /A does not hold the lock as a writer/],
  ["read-write/join-A,downgrade-A,downgrade-A", /A does not hold the lock as a writer/],
  ["read-write/join-A,join-B,downgrade-B", /B does not hold the lock/],
  ["read-write/join-A,look-A,downgrade-A,sell-A", /a reader does not write/],
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
