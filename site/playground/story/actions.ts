/**
 * The parts of a story: its settings and its actions, and their text in an address.
 *
 * A story looks like `lock/join-A,join-B,kill-A/2`: the kind, the actions, and how many of the actions are played. A
 * semaphore's kind has its permits, as in `semaphore-2`.
 */

export type Kind = "lock" | "read-write" | "semaphore";

/** The lock: the one with a queue, or the unfair one, which wakes all waiters. */
export type LockName = "fair" | "unfair";

/** How a contender holds the lock: alone, or together with other readers. */
export type Role = "writer" | "reader";

/** One action of the person who plays. */
export type Action =
  | { readonly verb: "join"; readonly who: string; readonly role: Role }
  | { readonly verb: "leave" | "release" | "kill"; readonly who: string; readonly lock: LockName }
  | {
      readonly verb: "pause" | "resume" | "cut" | "reconnect" | "downgrade" | "look" | "sell";
      readonly who: string;
    }
  | { readonly verb: "wait" }
  | { readonly verb: "check"; readonly on: boolean };

/** Applies an action to the story. */
export type Act = (action: Action) => void;

export interface Story {
  readonly kind: Kind;
  /** Of a semaphore. */
  readonly permits: number;
  readonly actions: readonly Action[];
  /** How many of the actions are played; the others come next. */
  readonly at: number;
}

/** A story that cannot be read or played; the message names the part and the reason. */
export class BadStory extends Error {
  override readonly name = "BadStory";
}

/** The contenders, in the order in which they come. */
export const NAMES = ["A", "B", "C", "D", "E", "F"] as const;

export const MOST_PERMITS = 5;

/** The page plays the story again at each step, and a longer one would take too long. */
export const MOST_ACTIONS = 200;

const KINDS: readonly Kind[] = ["lock", "read-write", "semaphore"];
const ANYWHERE = ["leave", "release", "kill"] as const;
const FAIR_ONLY = ["pause", "resume", "cut", "reconnect", "downgrade", "look", "sell"] as const;
const FORMS =
  "join-A, join-A-reader, leave-A, release-A, kill-A, pause-A, resume-A, cut-A, reconnect-A, downgrade-A, look-A, " +
  "sell-A, wait, check-off";

export const EMPTY: Story = { kind: "lock", permits: 2, actions: [], at: 0 };

/** The text of an action in an address. */
export function actionText(action: Action): string {
  switch (action.verb) {
    case "join":
      return `join-${action.who}${action.role === "reader" ? "-reader" : ""}`;
    case "leave":
    case "release":
    case "kill":
      return `${action.verb}-${action.who}${action.lock === "unfair" ? "-unfair" : ""}`;
    case "check":
      return action.on ? "check-on" : "check-off";
    case "wait":
      return "wait";
    default:
      return `${action.verb}-${action.who}`;
  }
}

/** The text of a story, as the fragment of an address has it, without the `#`. */
export function storyText({ kind, permits, actions, at }: Story): string {
  const first = kind === "semaphore" ? `semaphore-${permits}` : kind;
  const end = at === actions.length ? "" : `/${at}`;
  return `${first}/${actions.map(actionText).join(",")}${end}`;
}

/** Reads the text of a story. @throws BadStory that names the part that is not valid. */
export function readStory(text: string): Story {
  const [first = "", list = "", place, ...more] = text.split("/");
  if (more.length > 0) {
    throw new BadStory(`the story has ${more.length} parts too many: it has the form lock/join-A,join-B/1`);
  }
  const { kind, permits } = readKind(first);
  const words = list === "" ? [] : list.split(",");
  if (words.length > MOST_ACTIONS) {
    throw new BadStory(`the story has ${words.length} actions: at most ${MOST_ACTIONS} are allowed`);
  }
  const actions = words.map((word, index) => readAction(word, index + 1, kind));
  return { kind, permits, actions, at: readPlace(place, actions.length) };
}

function readKind(text: string): { kind: Kind; permits: number } {
  const found = /^semaphore-(\d)$/.exec(text);
  const permits = Number(found?.[1] ?? EMPTY.permits);
  const kind = found === null ? KINDS.find((one) => one === text && one !== "semaphore") : "semaphore";
  if (kind === undefined || permits < 1 || permits > MOST_PERMITS) {
    throw new BadStory(
      `the story begins with ${quoted(text)}: it has to be lock, read-write, or semaphore-1 to semaphore-${MOST_PERMITS}`,
    );
  }
  return { kind, permits };
}

function readPlace(text: string | undefined, length: number): number {
  if (text === undefined) {
    return length;
  }
  const at = Number(text);
  if (!/^\d+$/.test(text) || at > length) {
    throw new BadStory(`the story is at ${quoted(text)}: it has to be a number from 0 to ${length}, its last action`);
  }
  return at;
}

function readAction(text: string, number: number, kind: Kind): Action {
  const [verb = "", who, ...more] = text.split("-");
  const bad = (why: string): BadStory => new BadStory(`action ${number} is ${quoted(text)}: ${why}`);
  const last = more.join("-");
  if (verb === "wait" && who === undefined) {
    return { verb };
  }
  if (verb === "check" && (who === "on" || who === "off") && last === "") {
    return { verb, on: who === "on" };
  }
  const known = verb === "join" || isOneOf(ANYWHERE, verb) || isOneOf(FAIR_ONLY, verb);
  if (!known || who === undefined) {
    throw bad(`actions are ${FORMS}`);
  }
  if (!isOneOf(NAMES, who)) {
    throw bad(`the contenders are ${NAMES.join(", ")}`);
  }
  if (verb === "join" && (last === "" || (last === "reader" && kind === "read-write"))) {
    return { verb, who, role: last === "" ? "writer" : "reader" };
  }
  if (isOneOf(ANYWHERE, verb) && (last === "" || (last === "unfair" && kind === "lock"))) {
    return { verb, who, lock: last === "" ? "fair" : "unfair" };
  }
  if (verb === "downgrade" && kind !== "read-write") {
    throw bad("only a writer of read-write can downgrade");
  }
  if (isOneOf(FAIR_ONLY, verb) && last === "") {
    return { verb, who };
  }
  throw bad(`${quoted(last)} does not fit here: "reader" follows a join of read-write, "unfair" an action of lock`);
}

function isOneOf<T extends string>(all: readonly T[], one: string): one is T {
  return (all as readonly string[]).includes(one);
}

/** A text from an address, which may be of any length. */
function quoted(text: string): string {
  return text.length > 40 ? `"${text.slice(0, 40)}…"` : `"${text}"`;
}
