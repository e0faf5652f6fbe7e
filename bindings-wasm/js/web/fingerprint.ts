/**
 * The digests of the HTTP format, with WebCrypto, which exists in Node.js, Deno, Bun and in workers.
 *
 * @module
 */

import { TextEncoder } from "../host.js";
import { bytesOfLine, hex, joined } from "./bytes.js";

const utf8 = new TextEncoder();
const HMAC = { name: "HMAC", hash: "SHA-256" };

/** The binding of a form token: a digest of the tenant. */
export async function bindingOf(tenant: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", utf8.encode(tenant)));
}

/** The key of the record that belongs to a request's key, for operators that look at records. */
export async function recordKey(tenant: string, key: string): Promise<string> {
  return `http:1:${hex(await bindingOf(tenant))}:${key}`;
}

/** The route and the query of a request's target. */
export function partsOf(target: string): { route: string; query: string } {
  const local = target.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]*/, "");
  const at = local.indexOf("?");
  const [path, query] = at < 0 ? [local, ""] : [local.slice(0, at), local.slice(at + 1)];
  return { route: routeOf(path), query };
}

/** The route of a path that may have percent-encoded bytes. */
export function routeOf(path: string): string {
  const decoded = path.replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  return decoded === "" ? "/" : decoded;
}

/** The parts of a request that its fingerprint covers. */
export interface Asked {
  readonly method: string;
  readonly route: string;
  readonly query: string;
  readonly body: Uint8Array;
}

/** Makes fingerprints with a secret. */
export function fingerprints(secret: Uint8Array): (asked: Asked) => Promise<Uint8Array> {
  // A copy, because the program may overwrite its own bytes.
  const bytes = Uint8Array.from(secret);
  let imported: ReturnType<typeof crypto.subtle.importKey> | undefined;
  return async ({ method, route, query, body }) => {
    imported ??= crypto.subtle.importKey("raw", bytes, HMAC, false, ["sign"]);
    const text = joined([
      bytesOfLine("fencepost-http:1\n"),
      ...field("method", bytesOfLine(method)),
      ...field("route", bytesOfLine(route)),
      ...field("query", bytesOfLine(query)),
      ...field("body", body),
    ]);
    return new Uint8Array(await crypto.subtle.sign("HMAC", await imported, text));
  };
}

function field(name: string, value: Uint8Array): Uint8Array[] {
  return [bytesOfLine(`${name}:${value.length}:`), value, bytesOfLine("\n")];
}
