/**
 * The scope of idempotent operations: whose keys these are, and the rules for all its operations.
 *
 * @module
 */

import { takeKept } from "../errors.js";
import type { Module } from "./families/module.js";
import { Settings, checkBytes, made, number, optionalNumber } from "./hub.js";
import type { IdempotencyOptions } from "./lock-options.js";
import { takeDerived } from "./records.js";
import { checkedText, inOwnWords, read } from "./settings.js";

/**
 * The settings of a scope of idempotent operations. Durations in ms.
 *
 * ```ts
 * new Scope({ server: "redis", kind: "claim", scope: "payments", lease: 30_000, onLeaseEnd: "block" });
 * ```
 */
export interface ScopeData extends IdempotencyOptions {
  readonly server: "redis" | "zookeeper" | "memory";
  readonly kind: "claim";
  /** ZooKeeper: the path that all records lie below. */
  readonly prefix?: string | undefined;
  /** Whose keys these are: the operation, and the tenant. */
  readonly scope: string;
}

const NOTHING: Uint8Array = new Uint8Array();

type RawSettings = InstanceType<Module["Settings"]>;

/**
 * The checked settings of a scope: it makes the settings of each request. Texts have 1 to 1024 bytes, and no control
 * characters. Fingerprints and bindings are digests, of 1024 bytes at most.
 *
 * A claim is acquired, held and ended on a {@link Hub} as a lock is. All other settings are of one request: `tryAcquire`
 * or `acquire` begins it.
 */
export class Scope {
  readonly #module: Module;
  readonly #raw: InstanceType<Module["Scope"]>;

  /** @internal @throws ConfigError that says which value makes no sense. */
  constructor(module: Module, data: ScopeData) {
    const fields = read(module, data);
    this.#module = module;
    this.#raw = made(() => new module.Scope(fields), inOwnWords);
  }

  /** A claim on the operation `key`. `fingerprint`: a digest of what the operation is asked to do. */
  claim(key: string, fingerprint = NOTHING): Settings {
    checkBytes("fingerprint", fingerprint);
    return this.#settings(this.#raw.claim(checkedText("key", key), fingerprint));
  }

  /** A claim with a token that has been issued for this binding. */
  consume(token: string, binding: Uint8Array, fingerprint = NOTHING): Settings {
    checkBytes("binding", binding);
    checkBytes("fingerprint", fingerprint);
    return this.#settings(this.#raw.consume(checkedText("token", token), binding, fingerprint));
  }

  /** Makes a token, which a claim may consume within `life` ms (ten minutes). Ends in `completed`. */
  issue(token: string, binding: Uint8Array, life?: number): Settings {
    checkBytes("binding", binding);
    return this.#settings(this.#raw.issue(checkedText("token", token), binding, optionalNumber("life", life)));
  }

  /** Claims and completes at once; `binding`: of the token that the key is. Ends in `completed` or `replayed`. */
  register(
    key: string,
    binding: Uint8Array | null,
    fingerprint: Uint8Array,
    tag: string,
    result: Uint8Array,
  ): Settings {
    if (binding !== null) {
      checkBytes("binding", binding);
    }
    checkBytes("fingerprint", fingerprint);
    checkBytes("result", result);
    const name = checkedText("key", key);
    return this.#settings(this.#raw.register(name, binding ?? undefined, fingerprint, checkedText("tag", tag), result));
  }

  /**
   * Replaces the value at `key` if it has this version (0: if there is none). `operation` names the update: its repetition is not applied again. Ends in
   * `completed`, `replayed`, or `refused` as `conflict`.
   */
  update(
    key: string,
    operation: string,
    version: number,
    fingerprint: Uint8Array,
    tag: string,
    result: Uint8Array,
  ): Settings {
    checkBytes("fingerprint", fingerprint);
    checkBytes("result", result);
    const [name, id] = [checkedText("key", key), checkedText("operation", operation)];
    return this.#settings(
      this.#raw.update(name, id, number("version", version), fingerprint, checkedText("tag", tag), result),
    );
  }

  /** Reads a record. Ends in `looked`. */
  look(key: string): Settings {
    return this.#settings(this.#raw.look(checkedText("key", key)));
  }

  /** An operator gives the operation a result; `guard`: of the record that the operator has seen. Ends in `completed`. */
  settle(key: string, guard: number, tag: string, result: Uint8Array): Settings {
    checkBytes("result", result);
    const name = checkedText("key", key);
    return this.#settings(this.#raw.settle(name, number("guard", guard), checkedText("tag", tag), result));
  }

  /** An operator deletes the record. Ends in `looked`, without a record. */
  forget(key: string, guard: number): Settings {
    return this.#settings(this.#raw.forget(checkedText("key", key), number("guard", guard)));
  }

  /**
   * Deletes what no request of the scope would miss. Ends in `swept`. On Redis it deletes nothing, because the server expires records by
   * itself.
   */
  sweep(): Settings {
    return this.#settings(this.#raw.sweep());
  }

  /** A key for one step of the operation at another service: 32 hexadecimal digits, the same for all attempts and in all languages. */
  derive(key: string, step: string): string {
    if (!this.#raw.derive(checkedText("key", key), checkedText("step", step))) {
      throw inOwnWords(takeKept());
    }
    return takeDerived();
  }

  #settings(made: RawSettings | undefined): Settings {
    if (made === undefined) {
      throw inOwnWords(takeKept());
    }
    return new Settings(this.#module, made);
  }
}
