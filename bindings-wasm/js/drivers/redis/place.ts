/**
 * What both Redis libraries need of an address.
 *
 * @module
 */

import type { RedisAddress } from "../../hub/addresses.js";
import { certificates } from "./certificates.js";

/** Where the server is, for error texts. */
export function at({ host, port }: RedisAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The settings of TLS, if there is any. */
export function trusted({ tls, ca }: RedisAddress): object | undefined {
  return !tls ? undefined : ca === "" ? {} : { ca: certificates(ca) };
}
