// Many tasks on one client, each with a lock of its own: see ../README.md. The first lock also has another(name).

import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { clock, obeying } from "./loops.mjs";

const PAGE = 4096;

/** The processor time of the process, in nanoseconds. */
function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

/** Runs cycles in all tasks. Returns their number, their time and their processor time. */
async function run(locks, milliseconds) {
  const [start, before] = [clock(), processorTime()];
  const end = start + milliseconds * 1e6;
  let cycles = 0;
  await Promise.all(
    locks.map(async (lock) => {
      do {
        await lock.acquire();
        await lock.release();
        cycles += 1;
      } while (clock() < end);
    }),
  );
  return [cycles, clock() - start, processorTime() - before];
}

/** The memory of the process after a garbage collection, in bytes. */
function memory() {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return Number(readFileSync("/proc/self/statm", "ascii").split(" ")[1]) * PAGE;
}

/** Prints "ready" and runs commands until "quit". */
export async function serveMany(first, name) {
  const locks = [];
  await obeying(async ([verb, number]) => {
    if (verb === "open") {
      for (let i = 0; i < Number(number); i += 1) locks.push(await first.another(`${name}-${locks.length}`));
      return [];
    }
    if (verb === "run") return run(locks, Number(number));
    if (verb === "hold") {
      await Promise.all(locks.map((lock) => lock.acquire()));
      return [];
    }
    if (verb === "wait") {
      // Closing the client ends them.
      for (const lock of locks) lock.acquire().catch(() => undefined);
      await setTimeout(Number(number));
      return [];
    }
    if (verb === "memory") return [memory()];
    throw new Error(`unknown command: ${verb}`);
  });
  await first.close();
}
