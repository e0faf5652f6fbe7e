/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The right to hold a lock.
 *
 * @module
 */

import type { Contender } from "../engine/contender.js";
import type { Engine } from "../engine/engine.js";
import { LockLost } from "../errors.js";
import { ended, extended, waiting } from "./calls.js";
import { INSPECT, inspected } from "./console.js";
import type { Signal } from "./signal.js";

/**
 * The right to hold a lock, until the program releases it or the grant is lost.
 *
 * The client releases a grant in the background some time after the garbage collector has found that the
 * program no longer refers to it. So keep the grant, and not only its `signal`.
 */
export class Grant {
  readonly #engine: Engine;
  readonly #contender: Contender;

  /** @internal */
  constructor(engine: Engine, contender: Contender) {
    this.#engine = engine;
    this.#contender = contender;
    engine.finalizers.watch(this, contender);
  }

  /** The lock's name. */
  get name(): string {
    return this.#contender.lock;
  }

  /**
   * The number of the grant, which grows with every grant of the lock. Send it to the resource. A resource that refuses
   * a lower number than it has seen makes the lock safe. `null` if the server provides no number.
   */
  get fence(): bigint | null {
    return this.#contender.fence;
  }

  /**
   * Whether the grant is valid, by this client's own clock. The result is also correct after the computer has slept.
   * `false` while the connection to ZooKeeper is lost.
   */
  get isValid(): boolean {
    return this.#contender.valid;
  }

  /** For how many ms the grant is valid without a renewal: 0 when it has ended, Infinity if there is no lease. */
  get remaining(): number {
    return this.#contender.remaining;
  }

  /** Aborts when the grant is lost, with the {@link LockLost} as its reason. */
  get signal(): Signal {
    return this.#contender.signal;
  }

  /** Resolves with the reason when the grant is lost. It never resolves after a release. */
  get lost(): Promise<LockLost> {
    return this.#contender.lost;
  }

  /**
   * ZooKeeper: resolves when another contender requests the lock (through Curator's `Revoker`, or {@link
   * Lock.revoke}). The holder may release the grant soon, or keep it. Without a request it never resolves. It
   * does not keep the process alive.
   */
  get revokeRequested(): Promise<void> {
    return this.#contender.asked;
  }

  /** ZooKeeper: whether another contender has requested the lock. */
  get isRevokeRequested(): boolean {
    return this.#contender.revokeRequested;
  }

  /**
   * ZooKeeper: the node of a contender of another layout in the lock's directory, or null. That contender
   * does not see ours, so it may get the lock as well. Give all programs the same `layout`.
   */
  get mixedLayouts(): string | null {
    return this.#contender.mixedLayouts;
  }

  /**
   * Renews the grant now.
   *
   * @throws LockLost if the grant has ended, MisuseError if the program has released it.
   */
  extend(): Promise<void> {
    return extended(this.#engine, this.#contender);
  }

  /**
   * ZooKeeper: changes the grant of a writer into a reader's, without releasing it in between. Waiting
   * readers get the lock. The fence stays the same. If an owner has several grants, the lock becomes a
   * reader's with the last of them. Resolves when the server has confirmed the change.
   *
   * @throws MisuseError `not-a-writer` for any other grant and for a second call, `not-held` after a release;
   * Refused if the server refuses, and the grant stays a writer's; LockLost if the grant has ended.
   */
  downgrade(): Promise<void> {
    const contender = this.#contender;
    return waiting(this.#engine, (waiter) => {
      if (contender.state !== "held") {
        throw contender.refusal();
      }
      // On `memory:` the reply arrives during the call.
      const { downgrading } = contender;
      contender.downgrading = waiter;
      try {
        this.#engine.downgrade(contender);
      } catch (error) {
        contender.downgrading = downgrading;
        throw error;
      }
    });
  }

  /**
   * Releases the lock. Resolves when the server has confirmed it. If an owner has several grants, only this
   * one ends, and the client sends nothing, with one exception: when the owner releases its last grant of a
   * writer and still has grants of the reader, the lock becomes a reader's.
   *
   * @throws LockLost if the grant had been lost; MisuseError if the program had released it before; ReleaseUnconfirmed
   * after 5 s without a reply, while the client continues in the background; Refused if the server refuses to delete.
   */
  release(): Promise<void> {
    const [engine, contender] = [this.#engine, this.#contender];
    return ended(engine, contender, () => engine.release(contender));
  }

  /**
   * Releases the grant, unless the program has released it. If the body of `await using` has thrown too, JavaScript
   * wraps both errors in a `SuppressedError`: its `suppressed` is the body's error, its `error` is that of the release.
   * {@link Lock.using} throws the body's own error.
   *
   * @throws LockLost if the grant had been lost.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const { state, error } = this.#contender;
    if (state === "held") {
      await this.release();
    } else if (error instanceof LockLost) {
      throw error;
    }
  }

  /** The grant for a log. The fence is a text, because JSON numbers are not exact for its size. */
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
}
