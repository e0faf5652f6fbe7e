/**
 * Holds a lock until it is killed: `hold.js URL LOCK OPTIONS`, options as JSON. Prints "held" when it holds the lock.
 */

import { type LockOptions, connect } from "fencepost";

const [url = "", lock = "", options = "{}"] = process.argv.slice(2);
const client = await connect(url);
await client.lock(lock, JSON.parse(options) as LockOptions).acquire();
process.stdout.write("held\n");
setInterval(() => undefined, 1000);
