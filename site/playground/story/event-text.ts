/** The events of contenders, as sentences. */

import type { Event } from "fencepost/hub";

import type { Phase } from "./contender.js";
import { counted, listed } from "./words.js";

/** The meaning of a contender's event. */
export function describeEvent(who: string, event: Event, phase: Phase): { sentence: string | null; phase: Phase } {
  switch (event.event) {
    case "acquired":
      return { sentence: `${who} holds the lock, with fence ${event.grant.fence ?? "none"}.`, phase: "holding" };
    case "queued":
      return { sentence: null, phase: "waiting" };
    case "released":
      return { sentence: `${who} has released the lock.`, phase: "away" };
    case "refused": {
      const { kind, message } = event.reason;
      const sentence = kind === "cancelled" ? `${who} has left.` : `${who} no longer waits (${message}).`;
      return { sentence, phase: "away" };
    }
    case "downgraded":
      return { sentence: `${who} holds the lock as a reader from now on, with the same fence.`, phase };
    case "lost": {
      const { kind, message } = event.reason;
      const how = kind === "lease-ended" ? "ends its grant by its own clock" : "learns that its grant is lost";
      return { sentence: `${who} ${how} (${message}).`, phase: "away" };
    }
    case "suspended":
      return { sentence: `${who} is no longer sure that it holds the lock.`, phase };
    case "resumed":
      return { sentence: `${who} is sure again that it holds the lock.`, phase };
    default:
      return { sentence: null, phase };
  }
}

/** "3 events reach B, C and D." */
export function events(woken: readonly string[]): string {
  const verb = woken.length === 1 ? "reaches" : "reach";
  return `${counted(woken.length, "event")} ${verb} ${listed([...new Set(woken)])}.`;
}
