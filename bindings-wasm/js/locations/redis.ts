import { beside } from "./beside.js";

/**
 * The location of the module: a path that bundlers recognise. In `dist`, the folder of this file is beside `modules`.
 */
export const location = (): URL =>
  beside("../modules/redis.wasm", () => new URL("../modules/redis.wasm", import.meta.url));
