/**
 * The watches of one session. The driver adds one listener to the library for each path, for all commands that watch
 * it.
 *
 * @module
 */

import type { NodeCommand } from "../../hub/outputs.js";
import type { Manager, WatchedEvent } from "./library.js";

/** The event of a watch. */
export type Fired = (ids: readonly number[], event: "deleted" | "changed") => void;

const DELETED = 2;

/** The library's tables of listeners. */
const PLACE = { get: "dataWatchers", children: "childWatchers" } as const;

interface Watch {
  /** The commands that watch it, with their machines. */
  readonly commands: Map<number, number>;
  readonly watcher: (event: WatchedEvent) => void;
}

type What = keyof typeof PLACE;

export class Watches {
  readonly #manager: Manager;
  /** The watches of each machine. */
  readonly #byKey = new Map<number, { readonly what: What; readonly path: string; readonly id: number }[]>();
  readonly #known = { get: new Map<string, Watch>(), children: new Map<string, Watch>() };

  constructor(manager: Manager) {
    this.#manager = manager;
  }

  /** A read with a watch has its reply. The event cannot have come before it, because the library reads in order. */
  add({ id, key, path }: NodeCommand, what: What, fired: Fired): void {
    const known = this.#known[what];
    let watch = known.get(path);
    if (watch === undefined) {
      const commands = new Map<number, number>();
      const watcher = ({ type }: WatchedEvent) => {
        known.delete(path);
        for (const [id, key] of commands) {
          this.#over(key, id);
        }
        fired([...commands.keys()], type === DELETED ? "deleted" : "changed");
      };
      watch = { commands, watcher };
      known.set(path, watch);
      if (what === "get") {
        this.#manager.registerDataWatcher(path, watcher);
      } else {
        this.#manager.registerChildWatcher(path, watcher);
      }
    }
    watch.commands.set(id, key);
    const watched = this.#byKey.get(key) ?? [];
    watched.push({ what, path, id });
    this.#byKey.set(key, watched);
  }

  /**
   * No contender uses a machine any more. If no other command watches the path, this removes the listener from the
   * library, which would keep it until the node changes.
   */
  forget(key: number): void {
    for (const { what, path, id } of this.#byKey.get(key) ?? []) {
      const watch = this.#known[what].get(path);
      if (watch?.commands.delete(id) === true && watch.commands.size === 0) {
        this.#known[what].delete(path);
        this.#remove(what, path, watch);
      }
    }
    this.#byKey.delete(key);
  }

  /** Removes the driver's listeners from the library. */
  clear(): void {
    for (const what of ["get", "children"] as const) {
      for (const [path, watch] of this.#known[what]) {
        this.#remove(what, path, watch);
      }
    }
  }

  #over(key: number, id: number): void {
    const left = (this.#byKey.get(key) ?? []).filter((one) => one.id !== id);
    if (left.length === 0) {
      this.#byKey.delete(key);
    } else {
      this.#byKey.set(key, left);
    }
  }

  #remove(what: What, path: string, { watcher }: Watch): void {
    const kept = this.#manager.watcherManager[PLACE[what]];
    const emitter = kept[path];
    emitter?.removeListener("notification", watcher);
    // At a reconnect, the library sets watches for every path in its tables, even without listeners.
    if (emitter?.listenerCount("notification") === 0) {
      Reflect.deleteProperty(kept, path);
    }
  }
}
