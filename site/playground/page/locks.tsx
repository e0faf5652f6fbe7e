/** The locks, with their contenders in the order of their nodes. */

import type { ComponentChildren, JSX } from "preact";

import type { Act, Story } from "../story/actions.js";
import type { Verb } from "../story/contender.js";
import type { ContenderView, LockView } from "../story/lock.js";
import type { Step, View } from "../story/play.js";
import { LOCK_TITLES, counted, listed } from "../story/words.js";

const RULES: Readonly<Record<Story["kind"], string>> = {
  "lock":
    "Each contender creates a node with the next number. The lowest number holds, and every other contender watches the node before its own.",
  "read-write":
    "Each contender creates a node with the next number. A writer waits for the node before it, a reader for the last writer before it.",
  "semaphore": "Contenders wait in a queue. The first of it takes a permit as soon as one is free, and then holds.",
};
const UNFAIR = "There is one node and no queue. The contender that creates it holds the lock, and all others watch it.";

export function Locks({ story, view, act }: { story: Story; view: View; act: Act }): JSX.Element {
  const { next } = view;
  return (
    <section aria-labelledby="the-locks">
      <h2 id="the-locks">{view.locks.length > 1 ? "The locks" : "The lock"}</h2>
      <p class="row">
        {next !== null && story.kind === "read-write" && (
          <>
            <button type="button" onClick={() => act({ verb: "join", who: next, role: "reader" })}>
              Add reader {next}
            </button>
            <button type="button" onClick={() => act({ verb: "join", who: next, role: "writer" })}>
              Add writer {next}
            </button>
          </>
        )}
        {next !== null && story.kind !== "read-write" && (
          <button type="button" onClick={() => act({ verb: "join", who: next, role: "writer" })}>
            Add contender {next}
          </button>
        )}
        <button type="button" onClick={() => act({ verb: "wait" })}>
          Let a minute pass
        </button>
      </p>
      <div class="locks">
        {view.locks.map((lock) => (
          <Lock key={lock.name} lock={lock} story={story} view={view} act={act} />
        ))}
      </div>
    </section>
  );
}

function Lock({ lock, story, view, act }: { lock: LockView; story: Story; view: View; act: Act }): JSX.Element {
  const isAlone = view.locks.length === 1;
  const title = isAlone
    ? { "lock": "Lock", "read-write": "Read/write lock", "semaphore": "Semaphore" }[story.kind]
    : LOCK_TITLES[lock.name];
  return (
    <section class="lock" aria-labelledby={`lock-${lock.name}`} data-lock={lock.name}>
      <h3 id={`lock-${lock.name}`}>{title}</h3>
      <p>{lock.name === "unfair" ? UNFAIR : RULES[story.kind]}</p>
      <p data-events>
        <Events steps={view.steps} lock={lock} />
      </p>
      <ol class="line">
        {lock.contenders.map((one) => (
          <Contender key={one.who} one={one} lock={lock} kind={story.kind} act={act} />
        ))}
      </ol>
    </section>
  );
}

/** The cost of a lock: the contenders that it wakes, and the number of their requests. */
function Events({ steps, lock: { name } }: { steps: readonly Step[]; lock: LockView }): JSX.Element {
  const all = steps.flatMap(({ happened }) => happened[name] ?? []);
  const last = steps.at(-1)?.happened[name];
  const woken = last?.woken ?? [];
  return (
    <>
      Last step: <strong>{counted(woken.length, "event")}</strong>
      {woken.length > 0 ? ` to ${listed([...new Set(woken)])}` : ""}, {counted(last?.requests ?? 0, "request")}. Whole
      story: {counted(sum(all.map((one) => one.woken.length)), "event")},{" "}
      {counted(sum(all.map(({ requests }) => requests)), "request")}.
    </>
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => one + other, 0);
}

interface CardProps {
  one: ContenderView;
  lock: LockView;
  kind: Story["kind"];
  act: Act;
}

function Contender({ one, lock, kind, act }: CardProps): JSX.Element {
  const { who, role, phase, isPaused, isCut, node, watches, fence, seen } = one;
  const state = `${isPaused ? "paused" : phase}${isCut ? " cut" : ""}`;
  return (
    <li class={`contender ${state}`} data-card={`${lock.name}-${who}`} tabIndex={-1} aria-label={`Contender ${who}`}>
      <p class="who">
        <strong>{who}</strong> {kind === "read-write" && phase !== "away" ? `(${role}) ` : ""}
        <span data-state>{stateText(one)}</span>
      </p>
      <p class="facts">
        <Fact name="Node">{node === null ? "none" : <code>{node}</code>}</Fact>
        {watches !== null && <Fact name="Watches">{watches}</Fact>}
        {fence !== null && <Fact name="Fence">{String(fence)}</Fact>}
        {seen !== null && <Fact name="Has read a stock of">{seen}</Fact>}
      </p>
      <Buttons one={one} lock={lock} kind={kind} act={act} />
    </li>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }): JSX.Element {
  return (
    <span class="fact">
      {name}: {children}
    </span>
  );
}

/** A sign and words, because a sign or a colour alone is not accessible. */
function stateText({ phase, isPaused, isCut, isPending, hasSession }: ContenderView): string {
  const ended = hasSession ? "" : "; its session has ended";
  const cut = isCut ? "; its connection is cut" : "";
  if (isPaused) {
    const believed = phase === "holding" ? "believes that it holds" : "waits";
    return `❚❚ paused; ${believed}${cut}${ended}`;
  }
  if (isCut) {
    const stands = {
      away: "is not in the queue",
      waiting: "waits",
      holding: "holds the lock, but cannot confirm it",
      ended: "",
    }[phase];
    return `⊘ ${isPending ? "cannot reach the server" : stands}${cut}${ended}`;
  }
  return {
    away: "– is not in the queue",
    waiting: "○ waits",
    holding: "● holds",
    ended: "✕ is killed; its session has ended",
  }[phase];
}

function Buttons({ one, lock, kind, act }: CardProps): JSX.Element {
  const { who, fence, verbs } = one;
  const where = lock.name === "unfair" ? "unfair lock" : kind === "lock" ? "fair lock" : "lock";
  const button = (text: string, run: () => void): JSX.Element => (
    <button key={text} type="button" onClick={run}>
      {text}
      <span class="unseen">
        , {who}, {where}
      </span>
    </button>
  );
  const shown = (verb: Verb): JSX.Element[] => {
    switch (verb) {
      case "join":
        return kind === "read-write"
          ? [
              button("Join as reader", () => act({ verb, who, role: "reader" })),
              button("Join as writer", () => act({ verb, who, role: "writer" })),
            ]
          : [button("Join", () => act({ verb, who, role: "writer" }))];
      case "leave":
        return [button("Leave", () => act({ verb, who, lock: lock.name }))];
      case "release":
        return [button("Release", () => act({ verb, who, lock: lock.name }))];
      case "kill":
        return [button("Kill", () => act({ verb, who, lock: lock.name }))];
      case "look":
        return [button("Read the stock", () => act({ verb, who }))];
      case "sell":
        return [button(`Sell with fence ${fence ?? ""}`, () => act({ verb, who }))];
      case "pause":
        return lock.name === "fair" ? [button("Pause", () => act({ verb, who }))] : [];
      case "resume":
        return [button("Go on", () => act({ verb, who }))];
      case "cut":
        return lock.name === "fair" ? [button("Cut connection", () => act({ verb, who }))] : [];
      case "reconnect":
        return [button("Reconnect", () => act({ verb, who }))];
      case "downgrade":
        return [button("Downgrade", () => act({ verb, who }))];
    }
  };
  return <p class="row">{verbs.flatMap(shown)}</p>;
}
