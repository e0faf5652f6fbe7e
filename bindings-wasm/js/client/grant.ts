/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The right to hold a lock.
 *
 * @module
 */

import { LockLost } from "../errors.js";
import { INSPECT, inspected } from "../shown.js";
import type { Signal } from "../signal.js";
import type { Contender, Waiter } from "./contender.js";
import type { Engine } from "./engine.js";
import type { KeepAlive } from "./timers.js";

/** A call that somebody waits for. */
class Call implements Waiter {
  readonly #keepAlive: KeepAlive;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;

  constructor(keepAlive: KeepAlive, resolve: () => void, reject: (error: unknown) => void) {
    this.#keepAlive = keepAlive;
    this.#resolve = resolve;
    this.#reject = reject;
    keepAlive.hold();
  }

  resolve(): void {
    this.#keepAlive.drop();
    this.#resolve();
  }

  reject(error: unknown): void {
    this.#keepAlive.drop();
    this.#reject(error);
  }
}

/**
 * The right to hold a lock, from its acquire to its release or loss.
 *
 * A grant that nobody refers to any more is released in the background, some time after the garbage collector has found it: do not keep only its
 * `signal`.
 */
export class Grant {
  readonly #engine: Engine;
  readonly #contender: Contender;

  /** @internal */
  constructor(engine: Engine, contender: Contender) {
    this.#engine = engine;
    this.#contender = contender;
    engine.garbage.watch(this, contender);
  }

  /** The lock's name. */
  get name(): string {
    return this.#contender.lock;
  }

  /**
   * The number of this grant; it grows with every grant of the lock. Present it to the resource, which refuses a lower one than it has seen:
   * that is what makes a lock safe. `null` where the server cannot give one.
   */
  get fence(): bigint | null {
    return this.#contender.fence;
  }

  /**
   * Whether the lock is held for certain, by this client's clock alone: right also straight after the computer has slept. `false` while the
   * connection to ZooKeeper is gone.
   */
  get isValid(): boolean {
    return this.#contender.valid;
  }

  /** For how many ms the grant is valid unless it is renewed: 0 once it is over, Infinity if there is no lease. */
  get remaining(): number {
    return this.#contender.remaining;
  }

  /** Aborted when the grant is lost, with the {@link LockLost} as its reason. */
  get signal(): Signal {
    return this.#contender.signal;
  }

  /** Resolves with the reason when the grant is lost; never if it is released. */
  get lost(): Promise<LockLost> {
    return this.#contender.lost;
  }

  /**
   * ZooKeeper: resolves when somebody would like to have the lock (Curator's `Revoker`, or {@link Lock.revoke}); never if nobody asks. It is a wish:
   * release the grant soon, or keep it. Waiting for it keeps no process alive.
   */
  get revokeRequested(): Promise<void> {
    return this.#contender.asked;
  }

  /** ZooKeeper: whether somebody would like to have the lock, without waiting for it. */
  get isRevokeRequested(): boolean {
    return this.#contender.revokeRequested;
  }

  /**
   * ZooKeeper: the node of a contender of another layout in the lock's directory, or null. It was waited for if it came first, but it cannot see ours,
   * and may be granted the lock as well: have all programs use one `layout`.
   */
  get mixedLayouts(): string | null {
    return this.#contender.mixedLayouts;
  }

  /**
   * Makes the grant last from now on.
   *
   * @throws LockLost if it is over, MisuseError if it has been released.
   */
  extend(): Promise<void> {
    const contender = this.#contender;
    return this.#wait((waiter) => {
      if (contender.state !== "held") {
        throw contender.refusal();
      }
      // In memory the answer comes at once.
      contender.extending = [...contender.extending, waiter];
      try {
        this.#engine.extend(contender);
      } catch (error) {
        contender.extending = contender.extending.filter((other) => other !== waiter);
        throw error;
      }
    });
  }

  /**
   * ZooKeeper: goes on as a reader, with the fence that the writer had; resolves when the server has put the reader in the writer's place, with nobody
   * in between. Others may read from then on. Of an owner's grants each becomes a reader's by itself, and the lock with the last of them.
   *
   * @throws MisuseError `not-a-writer` if it is no writer's grant, or not any more, `not-held` if it has been released; Refused if the server does not
   * permit it, and the grant is a writer's as before; LockLost if it is over.
   */
  downgrade(): Promise<void> {
    const contender = this.#contender;
    return this.#wait((waiter) => {
      if (contender.state !== "held") {
        throw contender.refusal();
      }
      // In memory the answer comes at once.
      const { turning } = contender;
      contender.turning = waiter;
      try {
        this.#engine.downgrade(contender);
      } catch (error) {
        contender.turning = turning;
        throw error;
      }
    });
  }

  /**
   * Gives the lock back; resolves when the server has confirmed it. If its owner holds the lock otherwise, only this hold ends, and nothing is asked of the
   * server, unless the others are readers' and this was the last one of a writer: then the grant becomes a reader's.
   *
   * @throws LockLost if the grant had been lost; MisuseError if it has been released before; ReleaseUnconfirmed after 5 s without the server's
   * word (it is carried on with in the background); Refused if the server does not permit it.
   */
  release(): Promise<void> {
    const contender = this.#contender;
    return this.#wait((waiter) => {
      if (contender.state !== "held") {
        throw contender.refusal();
      }
      contender.releasing = waiter;
      try {
        this.#engine.release(contender);
      } catch (error) {
        contender.releasing = null;
        throw error;
      }
      this.#engine.garbage.unwatch(contender);
    });
  }

  /**
   * Releases the grant, if that has not been done. If the body of `await using` has thrown too, JavaScript wraps both errors in a `SuppressedError`: the body's
   * is its `suppressed`, this one its `error`. {@link Lock.using} throws the body's own.
   *
   * @throws LockLost if it had been lost.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const { state, error } = this.#contender;
    if (state === "held") {
      await this.release();
    } else if (error instanceof LockLost) {
      throw error;
    }
  }

  /** The grant for a log: the fence as text, as JSON knows no whole numbers of this size. */
  toJSON(): { name: string; fence: string | null; isValid: boolean; remaining: number | null } {
    const { name, fence, isValid, remaining } = this;
    return {
      name,
      fence: fence === null ? null : String(fence),
      isValid,
      remaining: Number.isFinite(remaining) ? remaining : null,
    };
  }

  /** @internal For `console.log`. */
  [INSPECT](_depth: number, options: object, inspect?: (value: unknown, options: object) => string): string {
    const { name, fence, isValid, remaining } = this;
    return inspected("Grant", { name, fence, isValid, remaining }, options, inspect);
  }

  #wait(begin: (waiter: Waiter) => void): Promise<void> {
    return new Promise((resolve, reject: (error: unknown) => void) => {
      const waiter = new Call(this.#engine.keepAlive, resolve, reject);
      try {
        begin(waiter);
      } catch (error) {
        waiter.reject(error);
      }
    });
  }
}
