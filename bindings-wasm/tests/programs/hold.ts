/** Holds a lock until it is killed: `hold.js URL LOCK TTL`. Says "held" when it does. */

import { connect } from "fencepost";

const [url = "", lock = "", ttl = ""] = process.argv.slice(2);
const client = await connect(url);
await client.lock(lock, ttl === "" ? {} : { ttl: Number(ttl) }).acquire();
process.stdout.write("held\n");
setInterval(() => undefined, 1000);
