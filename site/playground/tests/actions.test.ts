// Stories as texts: a story that is read is written unchanged, and an error names the wrong part.

import assert from "node:assert/strict";
import { test } from "node:test";

import { BadStory, MOST_ACTIONS, readStory, storyText } from "../story/actions.js";
import { PREPARED } from "../story/prepared.js";

const GOOD = [
  "lock/",
  "lock/join-A,kill-A-unfair,pause-B,resume-B,wait,check-off,check-on",
  "lock/join-A,join-B/1",
  "lock/join-A,cut-A,wait,reconnect-A/2",
  "read-write/join-A,downgrade-A,cut-A",
  "read-write/join-A-reader,join-B,look-B,sell-B,leave-A",
  "semaphore-5/join-F,release-F/0",
  ...PREPARED.map(({ text }) => text),
];

for (const text of GOOD) {
  test(`${text} is read and written`, () => {
    assert.equal(storyText(readStory(text)), text);
  });
}

test("a story without a place is at its end", () => {
  assert.equal(readStory("lock/join-A,wait").at, 2);
});

const BAD: readonly (readonly [string, RegExp])[] = [
  ["", /begins with ""/],
  ["semaphore/join-A", /begins with "semaphore"/],
  ["semaphore-0/", /semaphore-1 to semaphore-5/],
  ["semaphore-12/", /begins with "semaphore-12"/],
  ["lock/join-A/1/2", /1 parts too many/],
  ["lock/join-A/2", /from 0 to 1/],
  ["lock/join-A/-1", /is at "-1"/],
  ["lock/join-A/", /is at ""/],
  ["lock/join-A,,join-B", /action 2 is ""/],
  ["lock/join", /action 1 is "join": actions are/],
  ["lock/join-a", /contenders are A, B/],
  ["lock/join-A-reader", /"reader" does not fit/],
  ["read-write/release-A-unfair", /"unfair" does not fit/],
  ["lock/pause-A-unfair", /"unfair" does not fit/],
  ["lock/cut-A-unfair", /"unfair" does not fit/],
  ["lock/reconnect", /actions are/],
  ["lock/downgrade-A", /only a writer of read-write/],
  ["semaphore-1/downgrade-A", /only a writer of read-write/],
  ["read-write/downgrade-A-reader", /"reader" does not fit/],
  ["lock/wait-A", /actions are/],
  ["lock/check", /actions are/],
  ["lock/check-on-A", /actions are/],
  [`lock/${"x".repeat(5000)}`, /"x{40}…"/],
  [
    `lock/${Array(MOST_ACTIONS + 1)
      .fill("wait")
      .join()}`,
    /201 actions: at most 200/,
  ],
];

for (const [text, says] of BAD) {
  test(`${text.slice(0, 40)} is refused`, () => {
    assert.throws(
      () => readStory(text),
      (error) => error instanceof BadStory && says.test(error.message),
    );
  });
}
