/** Plays a story from its beginning. The same story always gives the same view, so a step back plays one action less. */

import { type Action, BadStory, type LockName, NAMES, type Story, actionText } from "./actions.js";
import { type Happened, Lock, type LockView } from "./lock.js";
import { SESSION_TIMEOUT } from "./server.js";
import { Shop, type ShopView } from "./shop.js";
import { LOCK_TITLES, actionTitle } from "./words.js";

/** How far an action moves the story's clock, in ms. */
const MOMENT = 1000;

/** One played action, and its effects. */
export interface Step {
  readonly title: string;
  readonly sentences: readonly string[];
  readonly happened: Readonly<Partial<Record<LockName, Happened>>>;
}

/** The visible state of a story after its actions so far. */
export interface View {
  readonly steps: readonly Step[];
  readonly locks: readonly LockView[];
  /** Null for a semaphore, whose fences order nothing. */
  readonly shop: ShopView | null;
  /** The next contender that has never joined; null if all have. */
  readonly next: string | null;
  /** Why the story could not be played to its end. */
  readonly problem: string | null;
}

/** Plays the first `story.at` actions. An action that is not possible ends the story there. */
export function play(story: Story): View {
  const run = new Run(story);
  for (const [index, action] of story.actions.slice(0, story.at).entries()) {
    try {
      run.act(action);
    } catch (error) {
      if (!(error instanceof BadStory)) {
        throw error;
      }
      return run.view(`action ${index + 1} is "${actionText(action)}", which is not possible: ${error.message}`);
    }
  }
  return run.view(null);
}

class Run {
  readonly #locks: readonly Lock[];
  readonly #shop = new Shop();
  readonly #steps: Step[] = [];

  constructor({ kind, permits }: Story) {
    const names: readonly LockName[] = kind === "lock" ? ["fair", "unfair"] : ["fair"];
    this.#locks = names.map((name) => new Lock(name, kind, permits));
  }

  /** Whether one of the locks guards the shop. */
  get #usesShop(): boolean {
    return this.#locks.some(({ usesShop }) => usesShop);
  }

  act(action: Action): void {
    const said = this.#apply(action);
    for (const lock of this.#locks) {
      lock.pass(action.verb === "wait" ? SESSION_TIMEOUT : MOMENT);
    }
    const happened: Partial<Record<LockName, Happened>> = {};
    const sentences = [...said];
    for (const lock of this.#locks) {
      const took = (happened[lock.name] = lock.take());
      const begin = this.#locks.length > 1 ? `${LOCK_TITLES[lock.name]}: ` : "";
      if (took.sentences.length > 0) {
        sentences.push(`${begin}${took.sentences.join(" ")}`);
      }
    }
    this.#steps.push({ title: actionTitle(action), sentences, happened });
  }

  view(problem: string | null): View {
    return {
      steps: this.#steps,
      locks: this.#locks.map((lock) => lock.view()),
      shop: this.#usesShop ? this.#shop.view() : null,
      next: NAMES.find((who) => !this.#locks.some((lock) => lock.knows(who))) ?? null,
      problem,
    };
  }

  /** Returns the shop's replies. */
  #apply(action: Action): readonly string[] {
    switch (action.verb) {
      case "join":
        this.#join(action.who, action.role);
        return [];
      case "leave":
      case "release":
      case "kill":
        this.#lock(action.lock)[action.verb](action.who);
        return [];
      case "pause":
      case "resume":
      case "cut":
      case "reconnect":
      case "downgrade":
        this.#lock("fair")[action.verb](action.who);
        return [];
      case "look":
        return [this.#look(action.who)];
      case "sell":
        return [this.#sell(action.who)];
      case "check":
        this.#check(action.on);
        return [];
      case "wait":
        return [];
    }
  }

  #lock(name: LockName): Lock {
    const found = this.#locks.find((lock) => lock.name === name);
    if (found === undefined) {
      throw new BadStory(`this story has no ${name} lock`);
    }
    return found;
  }

  /** Joins all locks that the contender has not joined yet. */
  #join(who: string, role: "writer" | "reader"): void {
    const free = this.#locks.filter((lock) => lock.canJoin(who));
    if (free.length === 0) {
      throw new BadStory(`${who} is there already`);
    }
    for (const lock of free) {
      lock.join(who, role);
    }
  }

  #look(who: string): string {
    const one = this.#lock("fair").able(who, "look");
    // Readers share the lock, so their fences are in no order that the shop could check.
    const { answer, seen } = this.#shop.look(who, one.role === "reader" ? null : one.fence);
    one.seen = seen;
    return answer;
  }

  #sell(who: string): string {
    const one = this.#lock("fair").able(who, "sell");
    const { fence, seen } = one;
    one.seen = null;
    if (fence === null || seen === null) {
      throw new BadStory(`${who} has no grant`);
    }
    return this.#shop.sell(who, fence, seen);
  }

  #check(on: boolean): void {
    if (!this.#usesShop) {
      throw new BadStory("a semaphore guards no shop: its fences order nothing");
    }
    if (this.#shop.checks === on) {
      throw new BadStory(`the shop ${on ? "checks fences" : "does not check fences"} already`);
    }
    this.#shop.checks = on;
  }
}
