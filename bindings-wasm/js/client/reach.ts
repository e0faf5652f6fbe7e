/**
 * Shared code of the functions that make a client for an address.
 *
 * @module
 */

import type { Acl } from "../drivers/acl.js";
import { ConfigError } from "../errors.js";
import type { Address } from "../hub/addresses.js";
import type { Module } from "../hub/families/module.js";
import { readAddress } from "../hub/hub.js";
import type { ConnectTimeout } from "./connect-timeout.js";

/** Options of `connect`. */
export interface ConnectOptions extends ConnectTimeout {
  /**
   * ZooKeeper: the rights on the nodes of the locks (by default every client may do everything). `memory:` checks it,
   * and permits everything.
   */
  readonly acl?: readonly Acl[] | undefined;
}

/** @internal The address in `url`, which has to be of this kind. @throws ConfigError */
export function addressOf<K extends Address["kind"]>(
  module: Module,
  url: unknown,
  kind: K,
): Extract<Address, { kind: K }> {
  const address = readAddress(() => module, url);
  if (address.kind !== kind) {
    const text = `this connect() is for ${kind} alone, and not for an address of ${address.kind}: import connect from "fencepost"`;
    throw new ConfigError(107, "unknown-scheme", text);
  }
  return address as Extract<Address, { kind: K }>;
}
