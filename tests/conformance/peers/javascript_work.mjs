// Work under claims: effects in a file, and many keys that the peer claims as fast as it can.

import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

import { LockLost } from "../../../bindings-wasm/dist/node/index.mjs";

/** Appends a line in one write, so that lines of other processes do not mix with it. */
const append = (path, ...words) => appendFileSync(path, words.join(" ") + "\n");

/** The effect of an operation. */
export const effect = (path, key, claim) => append(path, "effect", key, claim.fence, claim.takeovers);

/** Claims all keys, several at once. No other execution has the same result. */
export async function work(scope, [quoted, ...numbers], tag) {
  const path = decodeURIComponent(quoted);
  const [first, step, end, tasks, millis] = numbers.map(Number);
  const answers = { ran: 0, replayed: 0 };
  let next = first;

  const once = async (key) => {
    const claim = await scope.claim(key);
    const ran = !claim.replayed;
    if (ran) {
      effect(path, key, claim);
      await setTimeout(millis);
      const result = Buffer.from(`${process.pid}-${claim.fence}`);
      await claim.complete(new Uint8Array(result), tag);
    }
    append(path, "answer", key, Buffer.from(claim.result).toString());
    answers[ran ? "ran" : "replayed"] += 1;
    return true;
  };

  /** Whether another attempt has taken over: the caller then claims again. */
  const lost = (error) => {
    if (error instanceof LockLost) return false;
    throw error;
  };

  const some = async () => {
    for (; next < end;) {
      const key = `key-${next}`;
      next += step;
      while (!(await once(key).catch(lost)));
    }
  };

  await Promise.all(Array.from({ length: tasks }, some));
  return { answer: "ok", ...answers };
}
