/** The playground: a function of the story in the address. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";

import { type Act, type Action, MOST_ACTIONS, type Story, actionText } from "../story/actions.js";
import { play } from "../story/play.js";
import { type Opened, START, addressOf, opened } from "./address.js";
import { Locks } from "./locks.js";
import { Messages } from "./messages.js";
import { Shop } from "./shop.js";
import { StoryControls, Stories } from "./story.js";

export function App(): JSX.Element {
  const { story, problem } = useAddress();
  const view = useMemo(() => play(story), [story]);
  const root = useFocusKept(story);
  const last = view.steps.at(-1);
  const trouble = problem ?? view.problem;
  const act: Act = (action) => go(continued(story, action));
  return (
    <div ref={root}>
      {trouble !== null && (
        <p class="problem" role="alert">
          The address of this page has no story that can be played: {trouble}.{" "}
          {problem === null ? "The story is shown up to the action before it." : "A new story begins."}
        </p>
      )}
      <Stories story={story} />
      <StoryControls story={story} view={view} go={go} />
      <p class="said" role="status" data-said>
        {last === undefined
          ? "Nothing has happened yet."
          : [`Step ${view.steps.length}: ${last.title}.`, ...last.sentences].join(" ")}
      </p>
      {story.at >= MOST_ACTIONS ? (
        <p>This story has {MOST_ACTIONS} actions, and more are not possible. Step back, or begin a new one.</p>
      ) : null}
      <Locks story={story} view={view} act={act} />
      {view.shop !== null && <Shop shop={view.shop} guard={view.locks.length > 1 ? "fair lock" : "lock"} act={act} />}
      <Messages view={view} />
    </div>
  );
}

function go(story: Story): void {
  location.hash = addressOf(story);
}

/** The story with one more action. The actions after `at` stay if this action is the first of them. */
function continued({ kind, permits, actions, at }: Story, action: Action): Story {
  if (at >= MOST_ACTIONS) {
    return { kind, permits, actions, at };
  }
  const next = actions[at];
  const isNext = next !== undefined && actionText(next) === actionText(action);
  return { kind, permits, actions: isNext ? actions : [...actions.slice(0, at), action], at: at + 1 };
}

function useAddress(): Opened {
  const [now, setNow] = useState(() => opened(location.hash) ?? START);
  useEffect(() => {
    const changed = (): void => setNow((before) => opened(location.hash) ?? before);
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  return now;
}

/** A button may disappear when it is pressed. The focus then moves to its contender. */
function useFocusKept(story: Story): { current: HTMLDivElement | null } {
  const root = useRef<HTMLDivElement>(null);
  const card = useRef<string | null>(null);
  useEffect(() => {
    const remember = ({ target }: FocusEvent): void => {
      card.current =
        target instanceof Element ? (target.closest<HTMLElement>("[data-card]")?.dataset["card"] ?? null) : null;
    };
    root.current?.addEventListener("focusin", remember);
    return () => root.current?.removeEventListener("focusin", remember);
  }, []);
  useLayoutEffect(() => {
    if (card.current !== null && document.activeElement === document.body) {
      root.current?.querySelector<HTMLElement>(`[data-card="${card.current}"]`)?.focus();
    }
  }, [story]);
  return root;
}
