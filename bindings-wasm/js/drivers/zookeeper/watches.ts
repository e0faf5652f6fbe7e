/**
 * Watches on one session: the library keeps listeners, one of ours for each path, and several commands may wait for the same.
 *
 * @module
 */

import type { NodeCommand } from "../../outputs.js";
import type { Manager, WatchedEvent } from "./library.js";

/** What a watch says. */
export type Fired = (ids: readonly number[], event: "deleted" | "changed") => void;

const DELETED = 2;

/** Where the library keeps what. */
const PLACE = { get: "dataWatchers", children: "childWatchers" } as const;

interface Watch {
  readonly ids: number[];
  readonly watcher: (event: WatchedEvent) => void;
}

export class Watches {
  readonly #manager: Manager;
  readonly #known = { get: new Map<string, Watch>(), children: new Map<string, Watch>() };

  constructor(manager: Manager) {
    this.#manager = manager;
  }

  /** The answer to a read with a watch is here: no event can have come before it, because the library reads in order. */
  add({ id, path }: NodeCommand, what: "get" | "children", fired: Fired): void {
    const known = this.#known[what];
    const before = known.get(path);
    if (before !== undefined) {
      before.ids.push(id);
      return;
    }
    const ids = [id];
    const watcher = ({ type }: WatchedEvent) => {
      known.delete(path);
      fired(ids, type === DELETED ? "deleted" : "changed");
    };
    known.set(path, { ids, watcher });
    if (what === "get") {
      this.#manager.registerDataWatcher(path, watcher);
    } else {
      this.#manager.registerChildWatcher(path, watcher);
    }
  }

  /** Removes what we have hung into the library. */
  clear(): void {
    for (const what of ["get", "children"] as const) {
      const kept = this.#manager.watcherManager[PLACE[what]];
      for (const [path, { watcher }] of this.#known[what]) {
        kept[path]?.removeListener("notification", watcher);
      }
    }
  }
}
