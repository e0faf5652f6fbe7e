/**
 * From a machine's event to those who hold its grant or wait for it.
 *
 * @module
 */

import type { Event } from "../outputs.js";
import type { Contender } from "./contender.js";

/** Tells a contender, or all holds of its owner. `cause`: the client library's own error; `at`: where the server is; `over` is called for each that has come to its end. */
export function tell(
  contender: Contender,
  event: Event,
  cause: unknown,
  at: string,
  over: (hold: Contender) => void,
): void {
  const { tenure } = contender;
  // What is held stays held then: it is no acquire or release that was refused.
  const refused = event.event === "refused" && (tenure?.count() ?? Number(contender.state === "held")) > 0;
  if (refused && tenure !== null) {
    tenure.shared = false;
  }
  for (const hold of tenure === null ? [contender] : [...tenure.holds]) {
    if (refused) {
      hold.stay(event, cause, at);
    } else {
      hold.tell(event, cause, at);
    }
    if (hold.over) {
      over(hold);
    }
  }
}
