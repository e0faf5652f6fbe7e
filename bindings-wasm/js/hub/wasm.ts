/**
 * Finds a WebAssembly module and compiles it, once. Each module is a file of the package, and `js/locations` has its
 * location. Node.js and Bun read the file from the disk, a browser over HTTP; workerd and Deno import it.
 *
 * @module
 */

import { moduleMissing } from "../errors.js";
import { builtin } from "../host.js";
import type { WasmName } from "./wasm-name.js";

/** A file, or its contents. */
export type Location = URL | WasmModule | Uint8Array;

/** A compiled module. It is an instance of none of the other types. */
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

/** The bytes that the subpaths `base64` have stored. */
const inline = new Map<WasmName, Location>();

/** Stores the bytes of a module that the program contains as text. */
export function keepInline(name: WasmName, base64: string): void {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    bytes[index] = text.charCodeAt(index);
  }
  inline.set(name, bytes);
}

/** The glue of a module. It works once its module is compiled. */
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

  /** Returns the glue, with its module compiled. @throws DriverError where only {@link load} can read the module. */
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

  /**
   * Returns the glue, with its module compiled, even where the file has to be requested from a server. @throws
   * DriverError if the file cannot be read.
   */
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
        throw new Error(answer === undefined ? "fetch is not available" : `the server has answered ${answer.status}`);
      }
      return await web.WebAssembly.compile(await answer.arrayBuffer());
    } catch (error) {
      throw moduleMissing(this.#name, `${url.href}: ${String(error)}`, error);
    }
  }

  /** Returns a module or its bytes; or a file that a synchronous call cannot read. */
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
