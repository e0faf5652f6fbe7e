/** The servers that `python3 tests/servers run -- CMD` starts, and its control port. */

import { connect } from "node:net";
import { createInterface } from "node:readline";

/** The time in which even a busy server reports that another client holds the lock, in ms. */
export const BRIEF = 2000;

/** An address from the environment. */
export function address(name: string): string {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`${name} is not set: run \`npm test\`, or put \`python3 tests/servers run --\` before the command`);
  }
  return value;
}

/** A reply of the control port. */
export interface Answer {
  readonly ok: boolean;
  readonly error?: string;
  readonly id?: string;
  readonly address?: string;
  readonly total?: number;
  readonly flights?: number;
  readonly by_kind?: Readonly<Record<string, number>>;
  readonly servers?: readonly { readonly name: string; readonly state: string }[];
  readonly proxies?: readonly { readonly id: string }[];
}

/** Sends one line to the control port. */
export async function control(...words: (string | number | bigint)[]): Promise<Answer> {
  const [host, port] = address("FENCEPOST_SERVERS").split(":");
  const socket = connect(Number(port), host);
  socket.write(`${words.join(" ")}\n`);
  for await (const line of createInterface(socket)) {
    socket.destroy();
    const answer = JSON.parse(line) as Answer;
    if (!answer.ok) {
      throw new Error(`${words.join(" ")}: ${answer.error ?? "failed"}`);
    }
    return answer;
  }
  throw new Error("the control port has closed");
}

/** Resumes all servers, runs `last`, which may still use the proxies, and closes the proxies. */
export async function restore(last: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  const { servers = [], proxies = [] } = await control("list");
  for (const { name, state } of servers) {
    if (state === "paused") {
      await control("resume", name);
    } else if (state === "stopped") {
      await control("start", name);
    }
  }
  for (const { id } of proxies) {
    await control("proxy-pass", id);
    await control("proxy-heal", id);
  }
  await last();
  for (const { id } of proxies) {
    await control("proxy-close", id);
  }
}

/** A proxy in front of a server. */
export async function proxy(server: string): Promise<{ readonly id: string; readonly address: string }> {
  const { id, address } = await control("proxy", server);
  return { id: id ?? "", address: address ?? "" };
}

/** Waits for a promise, for at most `limit` ms. */
export async function within<T>(limit: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} has not come within ${limit} ms`)), limit);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Repeats a check until it is true, for at most `limit` ms. */
export async function eventually(limit: number, what: string, ask: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + limit;
  while (!(await ask())) {
    if (performance.now() > end) {
      throw new Error(`${what} has not come within ${limit} ms`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
