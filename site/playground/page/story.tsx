/** Choosing a story, and moving in it. */

import type { JSX } from "preact";

import { EMPTY, type Kind, MOST_PERMITS, type Story, readStory } from "../story/actions.js";
import type { View } from "../story/play.js";
import { PREPARED } from "../story/prepared.js";
import { actionTitle } from "../story/words.js";
import { addressOf } from "./address.js";

const KINDS: readonly (readonly [Kind, string])[] = [
  ["lock", "Lock, fair and unfair"],
  ["read-write", "Read/write lock"],
  ["semaphore", "Semaphore"],
];

/** The prepared stories, and the buttons that begin a new one. */
export function Stories({ story }: { story: Story }): JSX.Element {
  const begin = (kind: Kind, permits: number): void => {
    location.hash = addressOf({ ...EMPTY, kind, permits });
  };
  return (
    <section aria-labelledby="choose-a-story">
      <h2 id="choose-a-story">Choose a story</h2>
      <ul class="stories">
        {PREPARED.map(({ title, about, text }) => (
          <li key={text}>
            <a href={addressOf(readStory(text))}>{title}</a>: {about}
          </li>
        ))}
      </ul>
      <p class="row">
        <span>Or begin your own story with a</span>
        {KINDS.map(([kind, title]) => (
          <button key={kind} type="button" onClick={() => begin(kind, story.permits)}>
            {title}
          </button>
        ))}
      </p>
      {story.kind === "semaphore" && (
        <p class="row">
          <label>
            Permits (a change begins a new story):{" "}
            <select
              value={story.permits}
              onChange={({ currentTarget }) => begin("semaphore", Number(currentTarget.value))}
            >
              {Array.from({ length: MOST_PERMITS }, (_, index) => (
                <option key={index} value={index + 1}>
                  {index + 1}
                </option>
              ))}
            </select>
          </label>
        </p>
      )}
    </section>
  );
}

/** Back and forth, and the list of steps. */
export function StoryControls({
  story,
  view,
  go,
}: {
  story: Story;
  view: View;
  go: (story: Story) => void;
}): JSX.Element {
  const { actions, at } = story;
  const next = actions[at];
  const move = (to: number): void => {
    if (to >= 0 && to <= actions.length) {
      go({ ...story, at: to });
    }
  };
  return (
    <section aria-labelledby="the-story">
      <h2 id="the-story">The story</h2>
      <p class="row">
        <button type="button" aria-disabled={at === 0} onClick={() => move(at - 1)}>
          Step back
        </button>
        <button type="button" aria-disabled={next === undefined} onClick={() => move(at + 1)}>
          {next === undefined ? "Next step" : `Next step: ${actionTitle(next)}`}
        </button>
        <button type="button" aria-disabled={actions.length === 0} onClick={() => go({ ...story, actions: [], at: 0 })}>
          Begin again without actions
        </button>
      </p>
      <details>
        <summary>
          Step {at} of {actions.length}
        </summary>
        <ol class="steps">
          {actions.map((action, index) => (
            <li key={index}>
              <a href={addressOf({ ...story, at: index + 1 })} aria-current={index + 1 === at ? "step" : undefined}>
                {actionTitle(action)}
              </a>
              {view.steps[index] === undefined ? " (to come)" : ` ${view.steps[index].sentences.join(" ")}`}
            </li>
          ))}
        </ol>
      </details>
    </section>
  );
}
