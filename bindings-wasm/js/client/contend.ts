/**
 * Runs an acquire or a claim of the program until its contender has a result.
 *
 * @module
 */

import type { Contender } from "../engine/contender.js";
import type { Engine } from "../engine/engine.js";
import type { AcquireTimeout } from "../engine/machines.js";
import { NotAcquired } from "../errors.js";
import type { Settings } from "../hub/hub.js";
import { onAbort, reasonOf } from "./aborts.js";
import type { Signal } from "./signal.js";

/**
 * Starts the acquire of a contender. When another client has the lock, it returns `instead`, or rejects if that is
 * undefined.
 */
export function contend<T>(
  engine: Engine,
  contender: Contender,
  settings: Settings,
  acquireTimeout: AcquireTimeout,
  signal: Signal | undefined,
  finish: (contender: Contender, engine: Engine) => T,
  instead?: T,
): Promise<T> {
  return new Promise((resolve, reject: (error: unknown) => void) => {
    const { keepAlive } = engine;
    keepAlive.hold();
    const unwatch =
      signal === undefined
        ? null
        : onAbort(signal, () => {
            unwatch?.();
            contender.acquiring = null;
            contender.state = "closed";
            engine.abandon(contender);
            keepAlive.drop();
            reject(reasonOf(signal));
          });
    contender.acquiring = {
      resolve: () => {
        keepAlive.drop();
        unwatch?.();
        resolve(finish(contender, engine));
      },
      reject: (error) => {
        keepAlive.drop();
        unwatch?.();
        if (instead !== undefined && error instanceof NotAcquired) {
          resolve(instead);
        } else {
          reject(error);
        }
      },
    };
    try {
      engine.acquire(contender, settings, acquireTimeout);
    } catch (error) {
      contender.acquiring.reject(error);
    }
  });
}
