/**
 * Watches on one session: the library keeps listeners, one of ours for each path, and several commands may wait for the same.
 *
 * @module
 */

import type { NodeCommand } from "../../hub/outputs.js";
import type { Manager, WatchedEvent } from "./library.js";

/** What a watch says. */
export type Fired = (ids: readonly number[], event: "deleted" | "changed") => void;

const DELETED = 2;

/** Where the library keeps what. */
const PLACE = { get: "dataWatchers", children: "childWatchers" } as const;

interface Watch {
  /** The commands that wait for it, with the machines that they belong to. */
  readonly commands: Map<number, number>;
  readonly watcher: (event: WatchedEvent) => void;
}

type What = keyof typeof PLACE;

export class Watches {
  readonly #manager: Manager;
  /** What each machine has asked for. */
  readonly #byKey = new Map<number, { readonly what: What; readonly path: string; readonly id: number }[]>();
  readonly #known = { get: new Map<string, Watch>(), children: new Map<string, Watch>() };

  constructor(manager: Manager) {
    this.#manager = manager;
  }

  /** The answer to a read with a watch is here: no event can have come before it, because the library reads in order. */
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

  /** A machine watches nothing any more. What nobody watches is taken out of the library: there it would stay until the node changes. */
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

  /** Removes what we have hung into the library. */
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
    // The library asks for every path it has when it reconnects, listeners or none.
    if (emitter?.listenerCount("notification") === 0) {
      Reflect.deleteProperty(kept, path);
    }
  }
}
