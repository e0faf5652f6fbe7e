/**
 * Finds a WebAssembly module and compiles it, once. Each is a file of the package. `js/locations` says where it is, and each runtime reads it in its own
 * way: Node.js and Bun from the disk, a browser over HTTP; workerd and Deno import it.
 *
 * @module
 */

import { moduleMissing } from "../errors.js";
import { builtin } from "../host.js";
import type { WasmName } from "./wasm-name.js";

/** A file, or what has been read from it. */
export type Location = URL | WasmModule | Uint8Array;

/** A compiled module: known by what it is no instance of. */
export type WasmModule = object & { readonly wasm?: never };

interface Compiler {
  compile(bytes: unknown): Promise<WasmModule>;
}

interface Answer {
  readonly ok: boolean;
  readonly status: number;
  arrayBuffer(): Promise<unknown>;
}

interface Web {
  readonly WebAssembly: Compiler;
  readonly fetch?: (url: URL) => Promise<Answer>;
}

const web = globalThis as unknown as Web;

/** What the subpaths `base64` have brought. */
const inline = new Map<WasmName, Location>();

/** Keeps the bytes of a module that a program carries as text. */
export function keepInline(name: WasmName, base64: string): void {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    bytes[index] = text.charCodeAt(index);
  }
  inline.set(name, bytes);
}

/** The glue of a module, which works when its module is compiled. */
interface Glue {
  initSync(given: { module: Uint8Array | WasmModule }): unknown;
}

/** One module of the package. */
export class Wasm<G extends Glue> {
  readonly #name: WasmName;
  readonly #glue: G;
  readonly #locate: () => Location;
  #compiled = false;
  #loading: Promise<void> | null = null;

  constructor(name: WasmName, glue: G, locate: () => Location) {
    this.#name = name;
    this.#glue = glue;
    this.#locate = locate;
  }

  /** The glue, compiled. @throws DriverError where only {@link load} finds the module. */
  get(): G {
    if (!this.#compiled) {
      const found = this.#found();
      if (found instanceof URL) {
        throw moduleMissing(this.#name, `it has not been loaded yet: call await load("${this.#name}") before`);
      }
      this.#compile(found);
    }
    return this.#glue;
  }

  /** The glue, compiled, also where a file takes a request. @throws DriverError if the file cannot be had. */
  async load(): Promise<G> {
    if (!this.#compiled) {
      this.#loading ??= this.#load().finally(() => {
        this.#loading = null;
      });
      await this.#loading;
    }
    return this.#glue;
  }

  async #load(): Promise<void> {
    const found = this.#found();
    this.#compile(found instanceof URL ? await this.#fetched(found) : found);
  }

  async #fetched(url: URL): Promise<WasmModule> {
    try {
      const answer = await web.fetch?.(url);
      if (answer?.ok !== true) {
        throw new Error(answer === undefined ? "there is no fetch here" : `the server has answered ${answer.status}`);
      }
      return await web.WebAssembly.compile(await answer.arrayBuffer());
    } catch (error) {
      throw moduleMissing(this.#name, `${url.href}: ${String(error)}`, error);
    }
  }

  /** A module or its bytes, or a file that cannot be read from here. */
  #found(): Location {
    const kept = inline.get(this.#name);
    if (kept !== undefined) {
      return kept;
    }
    try {
      const location = this.#locate();
      const files = builtin("node:fs") as { readFileSync(path: URL): Uint8Array } | undefined;
      return location instanceof URL && location.protocol === "file:" && files !== undefined
        ? files.readFileSync(location)
        : location;
    } catch (error) {
      throw moduleMissing(this.#name, String(error), error);
    }
  }

  #compile(module: Uint8Array | WasmModule): void {
    if (!this.#compiled) {
      try {
        this.#glue.initSync({ module });
      } catch (error) {
        throw moduleMissing(this.#name, String(error), error);
      }
      this.#compiled = true;
    }
  }
}
