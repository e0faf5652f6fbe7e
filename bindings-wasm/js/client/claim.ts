/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The right to run an operation.
 *
 * @module
 */

import type { Contender } from "../engine/contender.js";
import type { Engine } from "../engine/engine.js";
import type { LockLost } from "../errors.js";
import type { Scope } from "../hub/scope.js";
import { checkedText } from "../hub/settings.js";
import { type Bytes, bytesOf } from "./bytes.js";
import { ended, extended } from "./calls.js";
import { INSPECT, inspected } from "./console.js";
import { known } from "./options.js";
import type { Signal } from "./signal.js";

/** Options of {@link Claim.complete}. */
export interface CompleteOptions {
  /** What the result is: a short text of the program's, of 255 bytes at most. */
  readonly tag?: string | undefined;
}

/**
 * The right to run an operation, until the program ends the claim or it is lost; or the result that the operation has
 * already ({@link Claim.replayed}): then there is nothing to run.
 *
 * A claim has three ends: {@link Claim.complete} (the operation has this result), {@link Claim.release} (nothing has
 * happened) and {@link Claim.leave} (the outcome is not known). A claim that the program does not end is left: at the
 * end of `await using`, when the client closes, and some time after the garbage collector has found that the program no
 * longer refers to it.
 */
export class Claim {
  /** The operation's key, or the token. */
  readonly key: string;
  readonly #engine: Engine;
  readonly #contender: Contender;
  readonly #scope: Scope;

  /** @internal */
  constructor(engine: Engine, contender: Contender, scope: Scope, key: string) {
    this.#engine = engine;
    this.#contender = contender;
    this.#scope = scope;
    this.key = key;
    if (!contender.over) {
      engine.finalizers.watch(this, contender);
    }
  }

  /**
   * The number of the claim, which grows with every claim of the operation. Send it to a resource that refuses lower
   * numbers than it has seen. Of a replayed claim: that of the attempt whose result it is.
   */
  get fence(): bigint {
    const { fence, record } = this.#contender;
    return fence ?? record?.fence ?? 0n;
  }

  /** How often the operation has been taken over: it may have run, wholly or in part, so often before this claim. */
  get takeovers(): number {
    const { granted, takeovers, record } = this.#contender;
    return granted ? takeovers : (record?.takeovers ?? 0);
  }

  /** Whether another attempt has stored a result: then {@link result} is that one, and there is nothing to run. */
  get replayed(): boolean {
    return this.#contender.replayed;
  }

  /** The result: of {@link complete}, or of the attempt that was first. null: there is none yet. */
  get result(): Uint8Array | null {
    return this.#contender.record?.result ?? null;
  }

  /** What the result is: the tag that it was stored with. null: there is none yet. */
  get tag(): string | null {
    return this.#contender.record?.tag ?? null;
  }

  /** Whether the claim is valid, by this client's own clock. */
  get isValid(): boolean {
    return this.#contender.valid;
  }

  /** For how many ms the claim is valid without a renewal. */
  get remaining(): number {
    return this.#contender.remaining;
  }

  /** Aborts when the claim is lost, with the {@link LockLost} as its reason: another attempt may run the operation. */
  get signal(): Signal {
    return this.#contender.signal;
  }

  /** Resolves with the reason when the claim is lost. */
  get lost(): Promise<LockLost> {
    return this.#contender.lost;
  }

  /**
   * Renews the claim now.
   *
   * @throws LockLost if the claim is lost, MisuseError if it has ended.
   */
  extend(): Promise<void> {
    return extended(this.#engine, this.#contender);
  }

  /**
   * The operation has this result, of 1,000,000 bytes at most. Resolves when the server has stored it; if another
   * attempt has stored one before, that one is the {@link Claim.result}, and the claim is {@link replayed}. After a loss
   * it may still be called: the server stores the result unless another attempt has claimed the operation.
   *
   * @throws LockLost: `superseded` if another attempt runs, `lease-ended` if no server has answered within the lease;
   * Refused if the server refuses, and the claim goes on; ConfigError for a result that is too long, before anything is
   * sent; MisuseError if the claim has ended.
   */
  async complete(result: Bytes, options?: CompleteOptions): Promise<void> {
    known(options, "tag");
    const [bytes, tag] = [bytesOf("result", result), checkedText("tag", options?.tag ?? "")];
    await this.#end(() => this.#engine.complete(this.#contender, tag, bytes));
  }

  /**
   * Nothing has happened: the operation may be claimed anew, at once.
   *
   * @throws LockLost if the claim is lost; MisuseError if it has ended; ReleaseUnconfirmed after 5 s without an answer,
   * while the client goes on in the background; Refused if the server refuses.
   */
  release(): Promise<void> {
    return this.#end(() => this.#engine.release(this.#contender));
  }

  /**
   * The outcome is not known, so the scope's `onLeaseEnd` decides what the next claim gets, at once.
   *
   * @throws as {@link release} does.
   */
  leave(): Promise<void> {
    return this.#end(() => this.#engine.leave(this.#contender));
  }

  /**
   * A key for one step of the operation at another service: 32 hexadecimal digits, the same for all attempts and in all
   * languages. So the other service does not do the step twice, if it is idempotent, too.
   */
  derive(step: string): string {
    return this.#scope.derive(this.key, step);
  }

  /**
   * Leaves the claim, unless it has ended.
   *
   * @throws LockLost if the claim is lost and has not been ended.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const contender = this.#contender;
    if (contender.state === "held") {
      await this.leave();
    } else if (contender.lapsed) {
      this.#engine.finalizers.unwatch(contender);
      this.#engine.abandon(contender);
      throw contender.refusal();
    }
  }

  /** The claim for a log. The fence is a text, because JSON numbers are not exact for its size. */
  toJSON(): { key: string; fence: string; takeovers: number; replayed: boolean; isValid: boolean } {
    const { key, fence, takeovers, replayed, isValid } = this;
    return { key, fence: String(fence), takeovers, replayed, isValid };
  }

  /** @internal For `console.log`. */
  [INSPECT](_depth: number, options: object, inspect?: (value: unknown, options: object) => string): string {
    const { key, fence, takeovers, replayed, isValid } = this;
    return inspected("Claim", { key, fence, takeovers, replayed, isValid }, options, inspect);
  }

  async #end(end: () => void): Promise<void> {
    const [engine, contender] = [this.#engine, this.#contender];
    try {
      await ended(engine, contender, end);
    } catch (error) {
      if (!contender.over) {
        // The claim goes on, so the client leaves it once the application no longer refers to it.
        engine.finalizers.unwatch(contender);
        engine.finalizers.watch(this, contender);
      }
      throw error;
    }
  }
}
