/**
 * Loads modules before the calls that need them.
 *
 * @module
 */

import { unreadable } from "../errors.js";
import { loadRedis } from "./families/redis.js";
import { loadZooKeeper } from "./families/zookeeper.js";
import { memoryModule } from "./memory/module.js";
import type { WasmName } from "./wasm-name.js";

const LOADS: Readonly<Record<WasmName, () => Promise<unknown>>> = {
  zookeeper: loadZooKeeper,
  redis: loadRedis,
  memory: () => Promise.all([loadZooKeeper(), memoryModule.load()]),
};

/**
 * Loads the module that a {@link Hub} or a {@link MemoryServer} needs, in a browser, where the file has to be requested
 * from a server. On other platforms it has no effect. `connect` calls it itself.
 *
 * @throws DriverError (`module-missing`) if the module's file cannot be read.
 */
export async function load(name: WasmName): Promise<void> {
  if (!Object.hasOwn(LOADS, name)) {
    throw unreadable("load accepts the name of a module: zookeeper, redis or memory");
  }
  await LOADS[name]();
}
