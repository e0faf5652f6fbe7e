// The worker's side of the protocol: see ../README.md. A lock is { acquire(), release(), close() }.

import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

/** Nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share. A number is exact up to an uptime of 100
 * days. */
export const clock = () => Number(process.hrtime.bigint());

async function cycle(lock, times) {
  const taken = [];
  for (let i = 0; i < times; i += 1) {
    const start = clock();
    await lock.acquire();
    await lock.release();
    taken.push(clock() - start);
  }
  return taken;
}

async function contend(lock, milliseconds, hold) {
  const turns = [];
  const end = clock() + milliseconds * 1e6;
  for (let called = clock(); called < end; called = clock()) {
    await lock.acquire();
    const granted = clock();
    await setTimeout(hold / 1000);
    turns.push([called, granted, clock()]);
    await lock.release();
  }
  return turns;
}

async function call(work) {
  const called = clock();
  await work();
  return [called, clock()];
}

async function obey(lock, [verb, ...numbers]) {
  const [one, two] = numbers.map(Number);
  if (verb === "cycle") return cycle(lock, one);
  if (verb === "contend") return contend(lock, one, two);
  if (verb === "acquire") return call(() => lock.acquire());
  if (verb === "release") return call(() => lock.release());
  throw new Error(`unknown command: ${verb}`);
}

/** Prints "ready", then runs the command of each line and prints its reply, until "quit". */
export async function obeying(answer) {
  process.stdout.write("ready\n");
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === "quit") break;
    process.stdout.write(`${JSON.stringify(await answer(line.split(" ")))}\n`);
  }
}

/** Prints "ready" and runs commands until "quit". */
export async function serve(lock) {
  await obeying((words) => obey(lock, words));
  await lock.close();
}
