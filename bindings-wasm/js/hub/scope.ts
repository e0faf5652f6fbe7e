/**
 * A scope of idempotent operations: the namespace of their keys, and the options of all of them.
 *
 * @module
 */

import { takeKept } from "../errors.js";
import type { Module } from "./families/module.js";
import { checkBytes, optionalNumber, whole } from "./checks.js";
import { Settings, made } from "./hub.js";
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
  /** ZooKeeper: the path below which all records are. */
  readonly prefix?: string | undefined;
  /** The namespace of the keys: the kind of operation and the tenant, for example. */
  readonly scope: string;
}

const NOTHING: Uint8Array = new Uint8Array();

type RawSettings = InstanceType<Module["Settings"]>;

/**
 * The checked settings of a scope. It makes the settings of each request. Texts have 1 to 1024 bytes, and no control
 * characters. Fingerprints and bindings are digests of at most 1024 bytes.
 *
 * A {@link Hub} acquires, holds and ends a claim as it does a lock. All other settings are those of a single step:
 * `tryAcquire` or `acquire` begins it.
 */
export class Scope {
  readonly #module: Module;
  readonly #raw: InstanceType<Module["Scope"]>;

  /** @internal @throws ConfigError that names the value that is not valid. */
  constructor(module: Module, data: ScopeData) {
    const fields = read(module, data);
    this.#module = module;
    this.#raw = made(() => new module.Scope(fields), inOwnWords);
  }

  /**
   * Makes the settings of a claim on the operation `key`. `fingerprint` is a digest of the request.
   */
  claim(key: string, fingerprint: Uint8Array = NOTHING): Settings {
    checkBytes("fingerprint", fingerprint);
    return this.#settings(this.#raw.claim(checkedText("key", key), fingerprint));
  }

  /** Makes the settings of a claim on a token that was issued with this binding. */
  consume(token: string, binding: Uint8Array, fingerprint: Uint8Array = NOTHING): Settings {
    checkBytes("binding", binding);
    checkBytes("fingerprint", fingerprint);
    return this.#settings(this.#raw.consume(checkedText("token", token), binding, fingerprint));
  }

  /**
   * Makes the settings of a single step that issues a token. A claim may consume it within `life` ms (by default ten
   * minutes). It ends in `completed`.
   */
  issue(token: string, binding: Uint8Array, life?: number): Settings {
    checkBytes("binding", binding);
    return this.#settings(this.#raw.issue(checkedText("token", token), binding, optionalNumber("life", life)));
  }

  /**
   * Makes the settings of a single step that claims and completes an operation at once. With a `binding`, the key is a
   * token, and the step consumes it. It ends in `completed` or `replayed`.
   */
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
   * Makes the settings of a single step that replaces the value at `key`, if the value has this version; with 0, if
   * there is no value. `operation` identifies the update: a repeated update is not applied again. It ends in
   * `completed`, in `replayed`, or in `refused` as `conflict`.
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
      this.#raw.update(name, id, whole("version", version), fingerprint, checkedText("tag", tag), result),
    );
  }

  /** Makes the settings of a single step that reads a record. It ends in `looked`. */
  look(key: string): Settings {
    return this.#settings(this.#raw.look(checkedText("key", key)));
  }

  /**
   * Makes the settings of a single step with which an operator stores a result for the operation. `guard` is that of
   * the record that the operator has read. It ends in `completed`.
   */
  settle(key: string, guard: number, tag: string, result: Uint8Array): Settings {
    checkBytes("result", result);
    const name = checkedText("key", key);
    return this.#settings(this.#raw.settle(name, whole("guard", guard), checkedText("tag", tag), result));
  }

  /**
   * Makes the settings of a single step with which an operator deletes the record. It ends in `looked`, without a
   * record.
   */
  forget(key: string, guard: number): Settings {
    return this.#settings(this.#raw.forget(checkedText("key", key), whole("guard", guard)));
  }

  /**
   * Makes the settings of a single step that deletes the records of the scope that are free or past their retention. It
   * ends in `swept`. On Redis it deletes nothing, because the server expires records by itself.
   */
  sweep(): Settings {
    return this.#settings(this.#raw.sweep());
  }

  /**
   * Returns a key for one step of the operation at another service: 32 hexadecimal digits, the same for all attempts
   * and in all languages.
   */
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
