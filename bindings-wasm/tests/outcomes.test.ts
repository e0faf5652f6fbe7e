/** The outcome for each error of each library, row by row, with real errors of the libraries. */

import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";

import { Redis } from "ioredis";
import { CommandTimeoutDuringMaintenanceError, createClient } from "redis";

import { type ZkClient, drop, nodeRedisAt, zkAt } from "./support/backends.js";
import { address, control, eventually, proxy, restore, within } from "./support/servers.js";

const SOON = 30_000;
const NOWHERE = "127.0.0.1:1";

type Classified = { readonly reply: Error } | { readonly failure: string };
type ClassifyError = (error: unknown) => Classified;

/** The work of a row is in a list, so that an earlier error is not mistaken for one of the library. */
type Work = [Promise<unknown>];

/** A module of the package that is not part of its interface. */
async function inner<T>(path: string): Promise<T> {
  return (await import(new URL(`../../dist/${path}`, import.meta.url).href)) as T;
}

async function classified(classifyError: ClassifyError, work: Promise<unknown>): Promise<string> {
  try {
    await within(SOON, "the error", work);
  } catch (error) {
    const said = classifyError(error);
    return "reply" in said ? `reply: ${said.reply.message.split(" ")[0] ?? ""}` : said.failure;
  }
  return "no error";
}

afterEach(() => restore());

/** A proxy that has received a request and holds back the reply. */
async function held(
  begin: (at: string) => Promise<() => Promise<unknown>>,
): Promise<{ id: string; work: Promise<unknown> }> {
  const { id, address: at } = await proxy("redis-1");
  const call = await begin(at);
  await control("proxy-hold", id);
  const before = (await control("proxy-count", id)).total ?? 0;
  const work = call();
  work.catch(() => undefined);
  await eventually(SOON, "the request", async () => ((await control("proxy-count", id)).total ?? 0) > before);
  return { id, work };
}

describe("node-redis", { concurrency: false }, () => {
  const rows: [string, string, () => Promise<Work> | Work][] = [
    ["an error reply", "reply: ERR", async () => [(await connected()).sendCommand(["NO-SUCH-COMMAND"])]],
    ["ClientClosedError: never connected", "closed", () => [nodeRedisAt(NOWHERE).sendCommand(["PING"])]],
    ["ClientOfflineError: no queue", "not-sent", () => [offline({ disableOfflineQueue: true }).sendCommand(["PING"])]],
    [
      "AbortError: not written",
      "not-sent",
      () => [offline({}).sendCommand(["PING"], { abortSignal: AbortSignal.timeout(20) })],
    ],
    // The library also rejects pending commands with it, and with its subclasses, during maintenance.
    ["TimeoutError", "unknown", () => [offline({}).sendCommand(["PING"], { timeout: 20 })]],
    [
      "CommandTimeoutDuringMaintenanceError: under way",
      "unknown",
      () => [Promise.reject(new CommandTimeoutDuringMaintenanceError(20))],
    ],
    [
      "SocketClosedUnexpectedlyError: under way",
      "unknown",
      async () => {
        const { id, work } = await held(async (at) => {
          const client = await connected(at);
          return () => client.sendCommand(["ECHO", "x"]);
        });
        await control("proxy-cut", id);
        return [work];
      },
    ],
    [
      "DisconnectsClientError: destroyed under way",
      "unknown",
      async () => {
        let end: () => void = () => undefined;
        const { work } = await held(async (at) => {
          const client = await connected(at);
          end = () => client.destroy();
          return () => client.sendCommand(["ECHO", "x"]);
        });
        end();
        return [work];
      },
    ],
    ["anything else", "unknown", () => [Promise.reject(new TypeError("who knows"))]],
  ];
  const clients: { readonly isOpen: boolean; destroy(): void }[] = [];
  afterEach(() => {
    for (const client of clients.splice(0)) {
      if (client.isOpen) {
        client.destroy();
      }
    }
  });

  async function connected(at = address("FENCEPOST_REDIS")) {
    const client = nodeRedisAt(at);
    clients.push(client);
    await client.connect();
    return client;
  }

  function offline(options: { readonly disableOfflineQueue?: boolean }) {
    const client = createClient({ url: `redis://${NOWHERE}`, ...options });
    client.on("error", () => undefined);
    client.connect().catch(() => undefined);
    clients.push(client);
    return client;
  }

  for (const [name, expected, make] of rows) {
    it(`${name} → ${expected}`, { timeout: 60_000 }, async () => {
      const { classifyError } = await inner<{ classifyError: ClassifyError }>("drivers/redis/node-redis.js");
      const [work] = await make();
      assert.equal(await classified(classifyError, work), expected);
    });
  }
});

describe("ioredis", { concurrency: false }, () => {
  const clients: Redis[] = [];
  afterEach(() => {
    for (const client of clients.splice(0)) {
      client.disconnect();
    }
  });

  async function ours(at: string): Promise<Redis> {
    const { OURS } = await inner<{ OURS: object }>("drivers/redis/ioredis.js");
    const client = new Redis(`redis://${at}`, OURS);
    client.on("error", () => undefined);
    clients.push(client);
    return client;
  }

  const rows: [string, string, () => Promise<Work> | Work][] = [
    [
      "ReplyError",
      "reply: ERR",
      async () => {
        const client = await ours(address("FENCEPOST_REDIS"));
        await client.connect();
        return [client.call("NO-SUCH-COMMAND")];
      },
    ],
    ["no queue and no connection", "not-sent", async () => [(await ours(NOWHERE)).call("PING")]],
    [
      "the connection ends under way",
      "unknown",
      async () => {
        const { id, work } = await held(async (at) => {
          const client = await ours(at);
          await client.connect();
          return () => client.call("ECHO", "x");
        });
        await control("proxy-cut", id);
        return [work];
      },
    ],
    ["anything else", "unknown", () => [Promise.reject(new TypeError("who knows"))]],
  ];
  for (const [name, expected, make] of rows) {
    it(`${name} → ${expected}`, { timeout: 60_000 }, async () => {
      const { classifyError } = await inner<{ classifyError: ClassifyError }>("drivers/redis/ioredis.js");
      const [work] = await make();
      assert.equal(await classified(classifyError, work), expected);
    });
  }
});

describe("node-zookeeper-client", { concurrency: false }, () => {
  interface Result {
    readonly failure?: string;
    readonly code?: number;
    readonly response?: object;
  }
  interface Session {
    send(command: object): void;
    flush(): void;
    close(): Promise<void>;
  }
  type Make = new (client: ZkClient, own: boolean, acl: readonly object[], listener: object) => Session;

  interface Watched {
    readonly connectionManager: { readonly watcherManager: Record<"childWatchers" | "dataWatchers", object> };
  }

  /** The flag of a read with a watch, and the machine that a contender uses. */
  const WATCH = 4;
  const USED = 1;

  let id = 0;
  const command = (operation: string, path: string, key = 0) => ({
    id: (id += 1),
    key,
    operation,
    path,
    data: new Uint8Array(),
    flags: key === 0 ? 0 : WATCH,
  });

  /** A session on a client, with a list of the results. */
  async function session(client: ZkClient) {
    const { Session } = await inner<{ Session: Make }>("drivers/zookeeper/session.js");
    const results: Result[] = [];
    const events: string[] = [];
    const made = new Session(client, false, [], {
      serves: (key: number) => key === USED,
      answered: (_command: object, _session: bigint, result: Result) => results.push(result),
      fired: () => undefined,
      connected: () => events.push("connected"),
      suspended: () => events.push("suspended"),
      ended: (_session: bigint, how: string) => events.push(how),
    });
    const send = (operation: string, path: string, key?: number) => {
      made.send(command(operation, path, key));
      made.flush();
    };
    return { send, results, events, close: () => made.close() };
  }

  it("an answer, and an error of the server → reply", async () => {
    const client = await zkAt(address("FENCEPOST_ZOOKEEPER"));
    const { send, results, close } = await session(client);
    send("children", "/");
    send("children", "/no-such-node");
    send("sync", "/");
    await eventually(SOON, "the answers", () => results.length === 3);
    assert.deepEqual(
      results.map(({ code, response }) => code ?? typeof response),
      ["object", -101, "object"],
    );
    await close();
    drop(client);
  });

  it("no watch is kept for a machine that is not used any more", async () => {
    const client = await zkAt(address("FENCEPOST_ZOOKEEPER"));
    const { send, results, close } = await session(client);
    send("children", "/", USED);
    send("get", "/", USED + 1);
    await eventually(SOON, "the answers", () => results.length === 2);
    const { childWatchers, dataWatchers } = (client as unknown as Watched).connectionManager.watcherManager;
    assert.deepEqual([Object.keys(childWatchers), Object.keys(dataWatchers)], [["/"], []]);
    await close();
    assert.deepEqual(Object.keys(childWatchers), []);
    drop(client);
  });

  it("the connection ends under way → unknown, then suspended; without one → not-sent; closed → closed", async () => {
    const { id: at, address: through } = await proxy("zookeeper");
    const client = await zkAt(through, 30_000);
    const { send, results, events, close } = await session(client);
    await control("proxy-hold", at);
    send("children", "/");
    await control("proxy-cut", at);
    await eventually(SOON, "the loss", () => events.includes("suspended"));
    send("children", "/");
    assert.deepEqual(
      results.map(({ failure }) => failure),
      ["unknown", "not-sent"],
    );
    await control("proxy-heal", at);
    await control("proxy-pass", at);
    await eventually(SOON, "the connection", () => events.includes("connected") && events.at(-1) !== "suspended");
    client.close();
    await eventually(SOON, "the end", () => events.at(-1) === "closed");
    send("children", "/");
    assert.equal(results.at(-1)?.failure, "closed");
    await close();
  });

  it("an error code that the library does not know → reply", async () => {
    const client = await zkAt(address("FENCEPOST_ZOOKEEPER"), 30_000);
    const { send, results, close } = await session(client);
    const { connectionManager: manager } = client as unknown as {
      connectionManager: { xid: number; onSocketData(data: Buffer): void };
    };
    await control("pause", "zookeeper");
    send("children", "/");
    // The error of an overloaded server: THROTTLEDOP.
    const frame = Buffer.alloc(20);
    frame.writeInt32BE(16, 0);
    frame.writeInt32BE(manager.xid - 1, 4);
    frame.writeInt32BE(-127, 16);
    manager.onSocketData(frame);
    assert.deepEqual(
      results.map(({ code }) => code),
      [-127],
    );
    await control("resume", "zookeeper");
    await close();
    drop(client);
  });

  it("leaves the client as it was", async () => {
    const client = await zkAt(address("FENCEPOST_ZOOKEEPER"));
    const { connectionManager: manager } = client as unknown as { connectionManager: NodeJS.EventEmitter };
    const before = manager.listenerCount("state");
    const { close } = await session(client);
    await close();
    assert.equal(manager.listenerCount("state"), before);
    assert.equal(Object.hasOwn(manager, "onSocketData"), false);
    drop(client);
  });
});
