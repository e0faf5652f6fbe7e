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
  /** A short text that describes the result, of at most 255 bytes. */
  readonly tag?: string | undefined;
}

/**
 * The right to run an operation, until the program ends the claim or the client loses it. If the operation already has
 * a result, the claim is {@link Claim.replayed}, and there is nothing to run.
 *
 * A program ends a claim with {@link Claim.complete} (the operation has this result), {@link Claim.release} (nothing
 * has happened) or {@link Claim.leave} (the outcome is not known). If the program does not end it, the client leaves
 * it: at the end of `await using`, when the client closes, and some time after the garbage collector has found that the
 * program no longer refers to it.
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
   * numbers than it has seen. A replayed claim has the number of the attempt that stored the result.
   */
  get fence(): bigint {
    const { fence, record } = this.#contender;
    return fence ?? record?.fence ?? 0n;
  }

  /** How many earlier attempts were taken over. Each of them may have run the operation, wholly or in part. */
  get takeovers(): number {
    const { granted, takeovers, record } = this.#contender;
    return granted ? takeovers : (record?.takeovers ?? 0);
  }

  /** Whether another attempt has stored a result. Then {@link result} returns it, and there is nothing to run. */
  get replayed(): boolean {
    return this.#contender.replayed;
  }

  /** The result that {@link complete} or an earlier attempt stored; null if there is none yet. */
  get result(): Uint8Array | null {
    return this.#contender.record?.result ?? null;
  }

  /** The tag that was stored with the result; null if there is no result yet. */
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

  /** Aborts when the claim is lost, with the `ClaimLost` as its reason: another attempt may run the operation. */
  get signal(): Signal {
    return this.#contender.signal;
  }

  /** Resolves with the reason, a `ClaimLost`, when the claim is lost. */
  get lost(): Promise<LockLost> {
    return this.#contender.lost;
  }

  /**
   * Renews the claim now.
   *
   * @throws ClaimLost if the claim is lost, MisuseError if it has ended.
   */
  extend(): Promise<void> {
    return extended(this.#engine, this.#contender);
  }

  /**
   * Stores the result of the operation, of at most 1,000,000 bytes. Resolves when the server has stored it. If another
   * attempt stored a result before, {@link Claim.result} returns that one, and the claim is {@link replayed}. A program
   * may call this after a loss, too: the server stores the result unless another attempt has claimed the operation.
   *
   * @throws ClaimLost: `superseded` if another attempt runs, `lease-ended` if no server replied within the lease;
   * Refused if the server refuses (the claim does not end); ConfigError for a result that is too long, before anything
   * is sent; MisuseError if the claim has ended.
   */
  async complete(result: Bytes, options?: CompleteOptions): Promise<void> {
    known(options, "tag");
    const [bytes, tag] = [bytesOf("result", result), checkedText("tag", options?.tag ?? "")];
    await this.#end(() => this.#engine.complete(this.#contender, tag, bytes));
  }

  /**
   * Ends the claim when nothing has happened. The operation may be claimed again at once.
   *
   * @throws ClaimLost if the claim is lost; MisuseError if it has ended; ReleaseUnconfirmed after 5 s without a reply,
   * while the client continues in the background; Refused if the server refuses.
   */
  release(): Promise<void> {
    return this.#end(() => this.#engine.release(this.#contender));
  }

  /**
   * Ends the claim when the outcome is not known. The next claim does not wait: the scope's `onLeaseEnd` decides its
   * result.
   *
   * @throws as {@link release} does.
   */
  leave(): Promise<void> {
    return this.#end(() => this.#engine.leave(this.#contender));
  }

  /**
   * A key for one step of the operation at another service: 32 hexadecimal digits, the same for all attempts and in all
   * languages. If the other service is idempotent, too, it does not do the step twice.
   */
  derive(step: string): string {
    return this.#scope.derive(this.key, step);
  }

  /**
   * Leaves the claim, unless it has ended.
   *
   * @throws ClaimLost if the claim is lost and the program has not ended it.
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
        // The claim has not ended, so the client leaves it when the program no longer refers to it.
        engine.finalizers.unwatch(contender);
        engine.finalizers.watch(this, contender);
      }
      throw error;
    }
  }
}
