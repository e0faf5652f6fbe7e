// The hub without fencepost's client: for programs with their own event loop or client library.
//
//     node examples/hub-loop.mjs redis://localhost
//
// The loop: after every input, poll until "wait"; carry out commands, pass events to the application, and call
// `handleTimeout` when its time has come. docs/reference/drivers.md describes the whole contract.

import { Hub, Settings } from "fencepost";
import { createClient } from "redis";

const redis = createClient({ url: process.argv[2] ?? "redis://localhost" });
redis.on("error", (error) => console.error(error.message));
await redis.connect();

// Any clock is suitable that does not go back and continues while the computer sleeps.
const now = () => performance.now();

const hub = new Hub("redis", 42);
const stock = new Settings({ kind: "redis-string", name: "stock/42", ttl: 10_000 });
const listener = redis.duplicate();
let timer;

/** Takes all outputs. */
function drive() {
  for (;;) {
    const output = hub.poll();
    switch (output.type) {
      case "command":
        // Commands are sent in the order in which they were polled. The next one does not wait for the reply to the
        // last one.
        void carryOut(output);
        break;
      case "event":
        application(output);
        break;
      case "wait":
        clearTimeout(timer);
        if (output.until !== null) {
          timer = setTimeout(() => input(() => hub.handleTimeout(now())), output.until - now());
        }
        return;
    }
  }
}

/** Reports an input, then takes all outputs. */
function input(put) {
  put();
  drive();
}

/** Carries out one command, and reports its outcome. */
async function carryOut({ id, operation, arguments: words }) {
  try {
    let reply = null;
    if (operation === "call") {
      reply = await redis.sendCommand(words);
    } else if (operation === "subscribe") {
      if (!listener.isOpen) await listener.connect();
      await listener.subscribe(words[0], () => input(() => hub.message(now(), id)));
    } else {
      await listener.unsubscribe(words[0]);
    }
    input(() => hub.reply(now(), id, reply));
  } catch (error) {
    // The core handles error replies. After any other error, the outcome is unknown.
    const answered = error.constructor.name === "SimpleError";
    input(() => (answered ? hub.reply(now(), id, error) : hub.failed(now(), id, "unknown")));
  }
}

/** The application: it acquires the lock once, and releases it. */
function application(event) {
  console.log(event.event);
  switch (event.event) {
    case "acquired":
      console.log(`working with fence ${event.grant.fence}`);
      hub.release(now(), event.key);
      break;
    case "released":
    case "refused":
    case "lost":
      // A closed machine exists until the server has replied; then nothing is pending.
      hub.close(now(), event.key);
      break;
  }
}

const contender = crypto.getRandomValues(new Uint8Array(16));
const key = hub.open(now(), stock, contender, 1);
input(() => hub.acquire(now(), key, 5000));

while (hub.pending > 0) {
  await new Promise((resolve) => setTimeout(resolve, 10));
}
clearTimeout(timer);
redis.destroy();
if (listener.isOpen) listener.destroy();
