import { beside } from "./beside.js";

/**
 * The location of the module: a path that bundlers recognise. In `dist`, the folder of this file is beside `modules`.
 */
export const location = (): URL =>
  beside("../modules/memory.wasm", () => new URL("../modules/memory.wasm", import.meta.url));
