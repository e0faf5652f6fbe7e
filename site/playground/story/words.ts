/** Sentences of the page. */

import type { Action, LockName } from "./actions.js";

export const LOCK_TITLES: Readonly<Record<LockName, string>> = { fair: "Fair lock", unfair: "Unfair lock" };

/** "A", "A and B", "A, B and C". */
export function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

/** "1 event", "3 events". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The title of an action in the list of steps. */
export function actionTitle(action: Action): string {
  switch (action.verb) {
    case "join":
      return `${action.who} joins${action.role === "reader" ? " as a reader" : ""}`;
    case "leave":
      return `${action.who} leaves${where(action.lock)}`;
    case "release":
      return `${action.who} releases${where(action.lock)}`;
    case "kill":
      return `${action.who} is killed, and its session ends${where(action.lock)}`;
    case "pause":
      return `${action.who} pauses`;
    case "resume":
      return `${action.who} goes on`;
    case "cut":
      return `The connection of ${action.who} is cut`;
    case "reconnect":
      return `${action.who} reconnects`;
    case "downgrade":
      return `${action.who} downgrades to a reader`;
    case "look":
      return `${action.who} reads the stock`;
    case "sell":
      return `${action.who} wants to sell a pair`;
    case "wait":
      return "A minute passes";
    case "check":
      return action.on ? "The shop checks fences" : "The shop does not check fences";
  }
}

function where(lock: LockName): string {
  return lock === "unfair" ? " (unfair lock)" : "";
}
