/**
 * The hub and its settings, for programs that drive it themselves. These classes find the WebAssembly module by the
 * family that the program names. A client knows its module.
 *
 * @module
 */

import { unreadable } from "../errors.js";
import type { Address } from "./addresses.js";
import type { Module } from "./families/module.js";
import { redisModule } from "./families/redis.js";
import { zooKeeperModule } from "./families/zookeeper.js";
import { text } from "./checks.js";
import { type Family, Hub as AnyHub, Inside, Settings as AnySettings, readAddress } from "./hub.js";
import type { MemoryServer } from "./memory/server.js";
import { type ScopeData, Scope as AnyScope } from "./scope.js";
import type { SettingsData } from "./settings.js";

/**
 * Finds the module by the beginning of a family, a server, a kind of machine or an address. Any module refuses an
 * unknown name.
 */
function named(name: unknown): Module {
  return typeof name === "string" && name.startsWith("redis") ? redisModule() : zooKeeperModule();
}

/** Checked settings. Make them once, and open any number of machines with them. */
export class Settings extends AnySettings {
  /** @throws ConfigError that names the value that is not valid. */
  constructor(data: SettingsData) {
    const { server, kind } = (data as SettingsData | null | undefined) ?? {};
    super(named(server ?? kind), data);
  }
}

/** The checked settings of a scope of idempotent operations. It makes the settings of each request. */
export class Scope extends AnyScope {
  /** @throws ConfigError that names the value that is not valid. */
  constructor(data: ScopeData) {
    super(named((data as ScopeData | null | undefined)?.server), data);
  }
}

/**
 * All machines on one connection. After every input, call {@link poll} until it returns a `wait`.
 *
 * Every method throws MisuseError if the present state does not allow the call; nothing has changed then. It throws
 * ConfigError for a time, duration, key or id that is not a number.
 */
export class Hub extends AnyHub {
  /**
   * Makes a hub without machines. The hub uses `seed`, any number, to spread retries over time. @throws ConfigError for
   * an unknown family.
   */
  constructor(family: Family, seed = 0) {
    super(named(family), text(family), seed);
  }

  /**
   * Makes a hub on a memory server. The hub carries out its own commands, and never returns a command. `sessionTimeout`
   * is the session timeout in ms (60000) that the hub calculates with; the server does not enforce it.
   */
  static memory(server: MemoryServer, now: number, seed = 0, sessionTimeout?: number): AnyHub {
    if (!(server instanceof Inside)) {
      throw unreadable("memory accepts a MemoryServer");
    }
    return server.connect(now, seed, sessionTimeout);
  }
}

/** Parses an address such as `zk://localhost:2181/shop`. @throws ConfigError that does not repeat passwords. */
export function parseAddress(url: string): Address {
  return readAddress(() => named(url), url);
}
