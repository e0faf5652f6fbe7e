// Acquires locks on command. usage: worker.mjs KIND URL LOCK

import { setFlagsFromString } from "node:v8";

import { Address } from "./libraries.mjs";
import { serve } from "./loops.mjs";
import { serveMany } from "./many.mjs";

// V8 would otherwise drop the compiled code of idle functions during the turns of other subjects, and so undo the
// warm-up: see ../README.md.
setFlagsFromString("--no-flush-bytecode");

const KINDS = ["fencepost", "fencepost-ioredis", "raw", "raw-ioredis"].flatMap((kind) => [
  kind,
  kind.replace(/^(fencepost|raw)/, "$1-operation"),
]);
KINDS.push(...["fencepost", "peer"].flatMap((whose) => [`${whose}-first`, `${whose}-replay`]));
const [asked, url, name] = process.argv.slice(2);
const kind = asked?.replace(/^many-/, "");
if (!KINDS.includes(kind) || name === undefined) {
  console.error(`usage: worker.mjs [many-]${KINDS.join("|")} URL LOCK`);
  process.exit(2);
}

// Each kind loads only its own library, so that a raw client is measured without fencepost in its process.
async function open(address) {
  const [whose, call] = kind.split("-");
  if (call === "first" || call === "replay") {
    const { calls } = await import("./calls.mjs");
    return calls(whose, call === "first", address, name);
  }
  if (kind.includes("-operation")) return openOperations(address);
  if (kind.startsWith("fencepost")) {
    const ours = await import("./ours.mjs");
    return kind === "fencepost" ? ours.byAddress(address, name) : ours.onIoredis(address, name);
  }
  const raw = await import("./raw.mjs");
  if (address.isZooKeeper) return raw.rawZooKeeper(address, name);
  return kind === "raw" ? raw.rawNodeRedis(address, name) : raw.rawIoredis(address, name);
}

async function openOperations(address) {
  const all = await import("./operations.mjs");
  const onIoredis = kind.endsWith("-ioredis");
  if (kind.startsWith("fencepost")) return all.operations(address, name, onIoredis);
  if (address.isZooKeeper) return all.rawZooKeeper(address, name);
  return onIoredis ? all.rawIoredis(address, name) : all.rawNodeRedis(address, name);
}

const lock = await open(new Address(url));
await (asked === kind ? serve(lock) : serveMany(lock, name));
