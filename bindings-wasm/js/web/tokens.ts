/**
 * Form tokens: for forms of a browser, which cannot send a key.
 *
 * @module
 */

import type { Idempotency } from "../client/idempotency.js";
import { shown, unreadable } from "../errors.js";
import { bytesOfLine } from "./bytes.js";
import { bindingOf } from "./fingerprint.js";
import { TOKEN_HEADER, tokenKey, tokenOf } from "./key.js";
import type { Reply } from "./response.js";
import { checkedTenant } from "./settings.js";

/** The bytes of a token: 32 characters. */
const RANDOM = 24;

/**
 * Issues a form token: one for each form that the server renders. The form sends it in a hidden field
 * ({@link tokenField}), and a script in the header `Idempotency-Token`. The middleware has to have the option `tokens`.
 *
 * `tenant`: the value that the middleware's `scope` returns. `life`: how long the form may be sent, in ms (by default
 * ten minutes).
 *
 * @throws Refused if the server refuses or is unavailable; ConfigError for an argument that is not valid.
 */
export async function issueToken(
  operations: Idempotency,
  tenant: string,
  options?: { readonly life?: number | undefined },
): Promise<string> {
  const binding = await bindingOf(checkedTenant(tenant));
  const bytes = crypto.getRandomValues(new Uint8Array(RANDOM));
  const token = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
  await operations.issue(tokenKey(token), { ...options, binding });
  return token;
}

/** The hidden field of a form, as HTML: with a token that {@link issueToken} has returned. */
export function tokenField(token: string): string {
  if (tokenOf(token) !== token) {
    throw unreadable(`token is ${shown(token)}: give a token that issueToken returned`);
  }
  return `<input type="hidden" name="${TOKEN_HEADER}" value="${token}">`;
}

/** The response that has a new token. */
export function tokenReply(token: string): Reply {
  const body = bytesOfLine(JSON.stringify({ token }));
  return {
    status: 201,
    headers: [
      ["content-type", "application/json"],
      ["cache-control", "no-store"],
      ["content-length", String(body.length)],
    ],
    body,
  };
}
