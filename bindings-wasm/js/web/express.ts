/**
 * The middleware for Express, and for other frameworks on Node.js whose middleware gets `(request, response, next)`.
 *
 * ```ts
 * const payments = client.idempotency("payments");
 * app.use(idempotent<Request>(payments, { scope: (request) => tenantOf(request), secret }));
 * app.use(express.json());
 * ```
 *
 * It has to come before body parsers, because it reads the body as it was received, and puts it back. Middleware that
 * changes the body of responses, such as `compression`, has to come before this one.
 *
 * @module fencepost/web/express
 */

import type { Idempotency } from "../client/idempotency.js";
import { show } from "./claims.js";
import { Gate, type Idle } from "./gate.js";
import { type WritableResponse, hold, put } from "./held.js";
import { type NodeRequest, headerOf, peek } from "./node.js";
import { STORED } from "./response.js";
import type { WebOptions } from "./settings.js";
import { Shield } from "./shield.js";

export * from "./public.js";

/** The members of a request of Express that the middleware uses. */
export interface ExpressRequest extends NodeRequest {
  readonly originalUrl?: string;
  readonly url?: string | undefined;
}

/** The members of a response of Express that the middleware uses. */
export type ExpressResponse = WritableResponse;

/**
 * A middleware that runs a request once for its key, and replays its response.
 *
 * A handler finds its claim by {@link claimOf}.
 *
 * @throws ConfigError for an option that is not valid.
 */
export function idempotent<R extends ExpressRequest>(
  operations: Idempotency,
  options: WebOptions<R>,
): ((request: R, response: ExpressResponse, next: (error?: unknown) => void) => void) & Idle {
  const gate = new Gate(operations, options);

  async function enter(request: R, response: ExpressResponse): Promise<boolean> {
    const entry = await gate.enter(request, {
      method: request.method ?? "",
      target: request.originalUrl ?? request.url ?? "",
      header: (name) => headerOf(request, name),
      body: (most) => peek(request, response, most),
    });
    if (entry.is === "reply") {
      put(response, entry.reply);
      response.end(entry.reply.body);
      return false;
    }
    if (entry.is === "run") {
      const { claim } = entry;
      if (claim === null) {
        response.setHeader(STORED, "false");
      } else {
        show(request, claim);
        hold(response, gate, claim, new Shield(request, response, () => void gate.leave(claim)));
      }
    }
    return true;
  }

  const middleware = (request: R, response: ExpressResponse, next: (error?: unknown) => void): void => {
    enter(request, response).then(
      (goesOn) => {
        if (goesOn) {
          next();
        }
      },
      (error: unknown) => {
        next(error);
      },
    );
  };
  return Object.assign(middleware, { idle: (atMost?: number) => gate.idle(atMost) });
}
