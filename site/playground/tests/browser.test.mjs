// The playground in a browser: each prepared story by keyboard, addresses, screen readers, and a narrow window.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";

import { FLAGS, chromium, serve } from "../../../bindings-wasm/tests/support/chromium.mjs";
import { binding } from "../build.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const require = createRequire(join(binding, "package.json"));
const { chromium: driver } = require("playwright-core");

/** The site is in a subfolder, as on a host with several sites. */
const BASE = "some/folder";

/** mdBook's pages have programs and styles in their text. The playground itself needs only `wasm-unsafe-eval`. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
].join("; ");

/** A busy machine may take long, in ms. */
const LIMIT = 120_000;

let folder, server, browser, page, complaints;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "fencepost-site-"));
  const python = join(root, ".venv", "bin", "python");
  execFileSync(python, [join(root, "site", "build.py"), join(folder, BASE)], { stdio: "inherit" });
  server = await serve(folder, { policy: POLICY });
  browser = await driver.launch({ executablePath: chromium(), args: FLAGS, timeout: LIMIT });
});

after(async () => {
  await browser?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

beforeEach(async () => {
  page = await browser.newPage();
  page.setDefaultTimeout(LIMIT);
  complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (!["about:", "data:"].includes(protocol) && host !== server.host)
      complaints.push(`a request to ${request.url()}`);
  });
  page.on("requestfailed", (request) => {
    // When a test opens the next page, the browser aborts pending requests of the page before.
    if (request.failure()?.errorText !== "net::ERR_ABORTED") complaints.push(`no answer for ${request.url()}`);
  });
});

afterEach(async () => {
  await page.close();
  assert.deepEqual(complaints, []);
});

/** Opens the page, with a story in its address or another fragment. */
async function open(fragment = "", width = 1200) {
  await page.setViewportSize({ width, height: 900 });
  // A change of only the fragment would not load the page.
  await page.goto("about:blank");
  await page.goto(`${server.address}/${BASE}/playground.html${fragment}`);
  await page.waitForSelector("#fencepost-playground [data-said]");
}

const texts = (selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent.trim()));
const said = async () => (await texts("[data-said]"))[0];
const line = async (lock) => texts(`[data-lock=${lock}] .contender .who`);
const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");

/** Presses Tab until something with this text has the focus. */
async function tabTo(text) {
  const seen = [];
  for (let count = 0; count < 300; count++) {
    await page.keyboard.press("Tab");
    const now = await focused();
    if (now.startsWith(text)) return;
    seen.push(now.slice(0, 40));
  }
  assert.fail(`Tab has never reached "${text}", but ${seen.join(" | ")}`);
}

/** Presses a key, and waits until the page's status text changes. */
async function press(key = "Enter") {
  const before = await said();
  await page.keyboard.press(key);
  await page.waitForFunction((old) => document.querySelector("[data-said]").textContent.trim() !== old, before);
}

/** Chooses a prepared story and plays it to its end, by keyboard. Returns the status text of each step. */
async function playByKeyboard(title) {
  await open();
  await tabTo(title);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.endsWith("/0"));
  await tabTo("Next step");
  const steps = [];
  while ((await focused()).startsWith("Next step:")) {
    await press();
    steps.push(await said());
  }
  assert.equal(await focused(), "Next step", "the button keeps the focus");
  return steps;
}

test("a session dies: only the waiter behind it gets an event", async () => {
  const steps = await playByKeyboard("A session dies");
  assert.match(steps[4], /B is killed.*1 event reaches C\./);
  assert.match(steps[5], /A is killed.*1 event reaches C\. C holds the lock/);
  assert.match(steps[6], /unfair lock.*3 events reach/);
  assert.match((await line("fair"))[0], /^C ● holds/);
});

test("a paused holder: the shop refuses its fence, and names both", async () => {
  const steps = await playByKeyboard("A paused holder");
  assert.match(steps[4], /ends its session.*B holds the lock, with fence (\d+)/s);
  const [, late, highest] = /refuses the write of A: fence (\d+) is lower than (\d+)/.exec(steps.at(-1));
  assert.ok(Number(late) < Number(highest));
  const shop = await texts("[data-shop] li");
  assert.ok(shop.includes("Refused: 1 request"), shop.join());
  assert.ok(shop.includes("Oversold: 0 pairs"), shop.join());
});

test("a cut connection: its holder ends its grant, and a paused one does not", async () => {
  const steps = await playByKeyboard("A cut connection");
  assert.match(steps[4], /A ends its grant by its own clock .*it ends its session.*B holds the lock/s);
  assert.match(steps[6], /it ends its session.*C holds the lock/s);
  assert.doesNotMatch(steps[6], /B (ends|learns)/);
  assert.match(steps[7], /B learns that its grant is lost/);
  assert.match(steps[8], /A has a connection again, in a new session/);
  await open(`${await page.evaluate(() => location.hash)}/7`);
  assert.match((await line("fair")).join(), /^C ● holds.*A ⊘ is not in the queue; its connection is cut/);
  assert.match((await line("fair")).join(), /B ❚❚ paused; believes that it holds; its session has ended/);
});

test("a downgrade: the writer still holds, and the readers behind it hold, too", async () => {
  const steps = await playByKeyboard("A downgrade");
  assert.match(steps[4], /A holds the lock as a reader.*2 events reach B and C\. B holds the lock.*C holds the lock/);
  assert.match(steps[7], /D holds the lock/);
});

test("everyone wakes: one event beside four", async () => {
  const steps = await playByKeyboard("Everyone wakes");
  assert.match(steps[5], /A releases\..*1 event reaches B\./);
  assert.match(steps[6], /A releases \(unfair lock\)\..*4 events reach /);
  assert.match((await texts("[data-lock=unfair] [data-events]"))[0], /Last step: 4 events/);
  assert.match((await texts("[data-lock=fair] [data-events]"))[0], /Whole story: 1 event,/);
});

test("readers and a writer: readers share, the writer waits for all of them", async () => {
  const steps = await playByKeyboard("Readers and a writer");
  assert.match(steps[1], /B holds the lock/);
  assert.match(steps[2], /C waits, and watches/);
  assert.match(steps[5], /C holds the lock/);
  assert.match(steps[6], /D holds the lock/);
});

test("permits: two hold, and a third when one releases", async () => {
  const steps = await playByKeyboard("Permits");
  assert.match(steps[1], /B holds the lock/);
  assert.match(steps[2], /C waits/);
  assert.match(steps[4], /C holds the lock/);
  assert.match(steps[5], /D holds the lock/);
});

test("the shop oversells: with the check off, it accepts the late write and counts", async () => {
  const steps = await playByKeyboard("The shop oversells");
  assert.match(steps.at(-1), /The shop had 1 pair and has sold 2: it has oversold/);
  assert.ok((await texts("[data-shop] li")).includes("Oversold: 1 pair that the shop never had"));
});

test("one's own story, by keyboard: the address has it, and a step back undoes it", async () => {
  await open();
  await tabTo("Add contender A");
  await press();
  await press();
  assert.match((await line("fair")).join(), /^A ● holds.*B ○ waits/);
  await tabTo("Release, A, fair lock");
  await press("Space");
  assert.match(await said(), /B holds the lock/);
  assert.match(await focused(), /^A/, "the card of A has the focus, because its button has gone");
  const address = page.url();
  assert.match(address, /#story=lock\/join-A,join-B,release-A$/);
  await page.goBack();
  await page.waitForFunction(() => location.hash.endsWith("join-B"));
  assert.match((await line("fair"))[0], /^A ● holds/);
  await page.goto("about:blank");
  await page.goto(address);
  await page.waitForSelector(".contender");
  assert.match((await line("fair"))[0], /^B ● holds/);
});

test("cut, reconnect and downgrade by keyboard", async () => {
  await open("#story=read-write/join-A,join-B-reader");
  await tabTo("Cut connection, A, lock");
  await press();
  assert.match(
    (await line("fair")).join(),
    /^A \(writer\) ⊘ holds the lock, but cannot confirm it; its connection is cut,B/,
  );
  assert.match((await texts("[data-messages] li")).join(), /^\S+ s: A: the connection is cut$/);
  assert.equal((await page.$$(".drawn .cross")).length, 1);
  assert.equal((await page.$$(".drawn .tip")).length, 0);
  assert.match(await focused(), /^A/);
  await tabTo("Reconnect, A, lock");
  await press("Space");
  assert.match(await said(), /in the same session\. A is sure again/);
  await open(await page.evaluate(() => location.hash));
  await tabTo("Downgrade, A, lock");
  await press();
  assert.match((await line("fair")).join(), /^A \(reader\) ● holds,B \(reader\) ● holds/);
  assert.match(page.url(), /#story=read-write\/join-A,join-B-reader,cut-A,reconnect-A,downgrade-A$/);
  await page.goBack();
  await page.waitForFunction(() => location.hash.endsWith("reconnect-A"));
  assert.match((await line("fair")).join(), /^A \(writer\) ● holds,B \(reader\) ○ waits/);
});

test("messages: the list and the diagram have the same ones", async () => {
  await open("#story=lock/join-A,join-B,release-A");
  const listed = await texts("[data-messages] li");
  assert.ok(
    listed.some((text) => /event, the server to B/.test(text)),
    listed.join(),
  );
  assert.equal((await page.$$(".drawn .tip")).length, listed.length);
  await open("#story=lock/join-A,join-B,release-A-unfair");
  assert.match((await texts("[data-messages] li")).join(), /the server to B/, "those of the lock that was used last");
  await page.getByLabel("Of all steps").check();
  await page.waitForFunction((few) => document.querySelectorAll("[data-messages] li").length > few, listed.length);
});

const BAD = [
  ["#story=bolt/join-A", /"bolt"/],
  ["#story=lock/join-A,open-A", /action 2 is "open-A"/],
  ["#story=lock/join-Z", /contenders are A, B/],
  ["#story=lock/join-A,release-B", /action 2 is "release-B".*B does not hold/],
  ["#story=semaphore-9/join-A", /"semaphore-9"/],
  ["#story=lock/join-A/7", /from 0 to 1/],
  ["#story=%zz", /% that begins no escaped character/],
  ["#nowhere", /name of a place of this page/],
];

for (const [fragment, says] of BAD) {
  test(`the address ${fragment}: the page says what is wrong`, async () => {
    await open(fragment);
    assert.match((await texts("[role=alert]"))[0], says);
  });
}

test("a place of the page is no story", async () => {
  await open("#what-you-can-do");
  assert.deepEqual(await texts("[role=alert]"), []);
});

for (const [theme, width] of [
  ["light", 1200],
  ["navy", 1200],
  ["light", 320],
]) {
  test(`accessible in the theme ${theme}, ${width} pixels wide`, async () => {
    await open("#story=lock/join-A,join-B,join-C,look-A,pause-A,wait,kill-C,cut-B", width);
    await page.evaluate((name) => localStorage.setItem("mdbook-theme", name), theme);
    await page.reload();
    await page.waitForSelector(".contender");
    await page.addScriptTag({ path: require.resolve("axe-core/axe.min.js") });
    const { violations } = await page.evaluate(() => globalThis.axe.run("#fencepost-playground"));
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    assert.deepEqual(found, []);
  });
}

test("320 pixels wide: the page does not scroll sideways", async () => {
  for (const story of [
    "lock/join-A,join-B,look-A,pause-A,wait",
    "read-write/join-A-reader,join-B",
    "read-write/join-A,cut-A",
    "semaphore-2/join-A",
  ]) {
    await open(`#story=${story}`, 320);
    await page.waitForSelector(".contender");
    const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= window, `${story}: ${wide} of ${window}`);
    const out = await page.$$eval("#fencepost-playground *:not(.drawn *, .unseen)", (all) =>
      all.filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80)),
    );
    assert.deepEqual(out, []);
  }
});
