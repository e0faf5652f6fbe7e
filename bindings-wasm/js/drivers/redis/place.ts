/**
 * The parts of an address that both Redis libraries need.
 *
 * @module
 */

import type { RedisAddress } from "../../hub/addresses.js";
import { certificates } from "./certificates.js";

/** The server's address, for error texts. */
export function at({ host, port }: RedisAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The settings of TLS, if it is used. */
export function trusted({ tls, ca }: RedisAddress): object | undefined {
  return !tls ? undefined : ca === "" ? {} : { ca: certificates(ca) };
}
