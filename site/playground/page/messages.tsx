/** The messages between the contenders and the server: a diagram, and the same as a list. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { LockName } from "../story/actions.js";
import { type Diagram, type Group, diagram } from "../story/diagram.js";
import type { View } from "../story/play.js";
import type { Message } from "../story/server.js";
import { LOCK_TITLES } from "../story/words.js";

export function Messages({ view }: { view: View }): JSX.Element {
  const [chosen, choose] = useState<LockName | null>(null);
  const [all, showAll] = useState(false);
  const [proofs, showProofs] = useState(false);
  const name = view.locks.find((lock) => lock.name === chosen)?.name ?? usedLast(view);
  const steps = all ? view.steps : view.steps.slice(-1);
  const whole = steps.map(({ title, happened }) => ({ title, messages: happened[name]?.messages ?? [] }));
  const groups = whole.map(({ title, messages }) => ({
    title,
    messages: proofs ? messages : messages.filter(({ isUpkeep }) => !isUpkeep),
  }));
  const hidden = whole.flatMap(({ messages }) => messages).filter(({ isUpkeep }) => isUpkeep).length;
  return (
    <section aria-labelledby="the-messages">
      <h2 id="the-messages">The messages</h2>
      {view.locks.length > 1 && (
        <fieldset class="row">
          <legend>Messages of the</legend>
          {view.locks.map((lock) => (
            <label key={lock.name}>
              <input type="radio" name="messages-of" checked={lock.name === name} onChange={() => choose(lock.name)} />{" "}
              {LOCK_TITLES[lock.name].toLowerCase()}
            </label>
          ))}
        </fieldset>
      )}
      <p class="row">
        <label>
          <input type="checkbox" checked={all} onChange={() => showAll(!all)} /> Of all steps, not only of the last one
        </label>
        <label>
          <input type="checkbox" checked={proofs} onChange={() => showProofs(!proofs)} /> Also the {hidden} that only
          open or prove sessions
        </label>
      </p>
      <Drawn groups={groups} />
      <List groups={groups} />
    </section>
  );
}

/** The lock whose contenders sent messages in the last step. */
function usedLast({ steps }: View): LockName {
  const last = steps.at(-1)?.happened;
  return last?.fair?.requests === 0 && (last.unfair?.requests ?? 0) > 0 ? "unfair" : "fair";
}

function List({ groups }: { groups: readonly Group[] }): JSX.Element {
  return (
    <ol class="messages" data-messages>
      {groups.flatMap(({ title, messages }) =>
        messages.length === 0
          ? [<li key={title}>{title}: no message.</li>]
          : messages.map((message, index) => (
              <li key={`${title} ${index}`}>
                {seconds(message.at)}: {said(message)}
              </li>
            )),
      )}
    </ol>
  );
}

function said({ who, kind, text }: Message): string {
  switch (kind) {
    case "request":
      return `${who} to the server: ${text}`;
    case "reply":
      return `the server to ${who}: ${text}`;
    case "event":
      return `event, the server to ${who}: ${text}`;
    case "session":
      return `session, the server to ${who}: ${text}`;
    case "cut":
      return `${who}: ${text}`;
  }
}

function seconds(millis: number): string {
  return `${(millis / 1000).toFixed(1)} s`;
}

function Drawn({ groups }: { groups: readonly Group[] }): JSX.Element {
  const drawn = diagram(groups);
  return (
    // A region that scrolls must be reachable by keyboard.
    <div class="drawn" role="region" aria-label="Sequence diagram of the messages" tabIndex={0}>
      <Picture drawn={drawn} />
    </div>
  );
}

function Picture({ drawn }: { drawn: Diagram }): JSX.Element {
  const { width, height, lanes, arrows, bands } = drawn;
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label="The same messages as in the list below"
    >
      {lanes.map(({ name, x }) => (
        <g key={name}>
          <text class="actor" x={x} y={20}>
            {name}
          </text>
          <path class="life" d={`M${x} 30V${height}`} />
        </g>
      ))}
      {bands.map(({ y, text }) => (
        <text key={y} class="band" x={8} y={y}>
          {text}
        </text>
      ))}
      {arrows.map(({ y, from, to, kind, lines, middle }) => {
        const tip = to > from ? to - 8 : to + 8;
        return (
          <g key={y} class={kind}>
            {lines.map((line) => (
              <text key={line.y} x={middle} y={line.y}>
                {line.text}
              </text>
            ))}
            {kind === "cut" ? (
              <path class="cross" d={`M${to - 5} ${y - 5}l10 10m0 -10l-10 10`} />
            ) : (
              <>
                <path d={`M${from} ${y}H${tip}`} />
                <path class="tip" d={`M${to} ${y}L${tip} ${y - 4}v8z`} />
              </>
            )}
          </g>
        );
      })}
    </svg>
  );
}
