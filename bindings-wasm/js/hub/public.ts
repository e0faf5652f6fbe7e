/**
 * The hub and its settings for programs that drive it themselves: the module is found by the family that they name. Clients know theirs.
 *
 * @module
 */

import { unreadable } from "../errors.js";
import type { Address } from "./addresses.js";
import type { Module } from "./families/module.js";
import { redisModule } from "./families/redis.js";
import { zooKeeperModule } from "./families/zookeeper.js";
import { type Family, Hub as AnyHub, Inside, Settings as AnySettings, readAddress, text } from "./hub.js";
import type { MemoryServer } from "./memory/server.js";
import { type ScopeData, Scope as AnyScope } from "./scope.js";
import type { SettingsData } from "./settings.js";

/** By the beginning of a name of a family, a server or a kind of machine, or of an address. What is none of them is for any module to refuse. */
function named(name: unknown): Module {
  return typeof name === "string" && name.startsWith("redis") ? redisModule() : zooKeeperModule();
}

/** Checked settings: make them once, open as many machines with them as you like. */
export class Settings extends AnySettings {
  /** @throws ConfigError that says which value makes no sense. */
  constructor(data: SettingsData) {
    const { server, kind } = (data as SettingsData | null | undefined) ?? {};
    super(named(server ?? kind), data);
  }
}

/** The checked settings of a scope of idempotent operations: it makes the settings of each request. */
export class Scope extends AnyScope {
  /** @throws ConfigError that says which value makes no sense. */
  constructor(data: ScopeData) {
    super(named((data as ScopeData | null | undefined)?.server), data);
  }
}

/**
 * All machines on one connection. After every input, {@link poll} until it gives a `wait`.
 *
 * Every method throws MisuseError when the call makes no sense now (then nothing has changed), and ConfigError for a time, duration, key or
 * id that is no number.
 */
export class Hub extends AnyHub {
  /** A hub without machines. The seed spreads retries and decides nothing. @throws ConfigError for an unknown family. */
  constructor(family: Family, seed = 0) {
    super(named(family), text(family), seed);
  }

  /** A hub that carries out its own commands on a server inside the process: it never gives a command. */
  static memory(server: MemoryServer, now: number, seed = 0): AnyHub {
    if (!(server instanceof Inside)) {
      throw unreadable("memory takes a MemoryServer");
    }
    return server.connect(now, seed);
  }
}

/** Reads an address such as `zk://localhost:2181/shop`. @throws ConfigError that does not repeat passwords. */
export function parseAddress(url: string): Address {
  return readAddress(() => named(url), url);
}
