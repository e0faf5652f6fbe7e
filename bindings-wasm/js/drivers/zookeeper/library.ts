/**
 * The parts of node-zookeeper-client 1.1.3 that the driver uses. Its public methods retry, drop the czxid and cannot
 * pipeline. So the driver passes requests to its connection manager, the object that these methods use.
 *
 * @module
 */

/** The states of the connection manager. */
export const STATE = {
  authFailed: -4,
  expired: -3,
  closed: -2,
  closing: -1,
  disconnected: 0,
  connecting: 1,
  connected: 2,
};

/** A packet for the connection manager. */
export interface Packet {
  readonly header: { readonly type: number; xid: number };
  readonly payload: { setChrootPath(chroot: string): void };
  toBuffer(): Buffer;
}

/** A node's stat; longs are 8 bytes. */
export interface RawStat {
  readonly czxid: Buffer;
  readonly mzxid: Buffer;
  readonly ctime: Buffer;
  readonly mtime: Buffer;
  readonly ephemeralOwner: Buffer;
  readonly version: number;
}

/** The result of one part of a multi: the `path` of a create, or `err` if the multi has failed. */
export interface PartResult {
  readonly path?: string;
  readonly err?: number;
}

/** A reply. */
export interface Response {
  readonly header: { readonly zxid: Buffer };
  /** The type in the request's header decides which of these fields exist. */
  readonly payload: {
    readonly path: string;
    readonly children: string[];
    readonly data?: Buffer;
    readonly stat: RawStat;
    /** For a multi: the result of each part. */
    readonly results: readonly PartResult[];
  };
}

/** An error of the library. If it comes with a response, it is the server's reply. */
export interface ZkError extends Error {
  readonly code: number;
}

export type Callback = (error: ZkError | null | undefined, response?: Response) => void;

/** The event of a watch: 1 created, 2 deleted, 3 changed, 4 children. */
export interface WatchedEvent {
  readonly type: number;
}

interface Emitter {
  listenerCount(event: string): number;
  on(event: string, listener: (...event: never[]) => void): unknown;
  removeListener(event: string, listener: (...event: never[]) => void): unknown;
}

interface Socket extends Emitter {
  readonly destroyed: boolean;
  /** Whether there is no connection yet. */
  readonly connecting: boolean;
  cork(): void;
  uncork(): void;
  destroy(): void;
  unref(): void;
  listeners(event: string): ((data: Buffer) => void)[];
}

/** The connection manager. */
export interface Manager extends Emitter {
  readonly state: number;
  servers: readonly unknown[];
  nextServerIndex: number;
  serverAttempts: number;
  readonly socket?: Socket;
  readonly sessionId: Buffer;
  readonly sessionTimeout: number;
  readonly connectTimeoutHandler: NodeJS.Timeout | null;
  pendingBuffer: Buffer | null;
  readonly packetQueue: { queue: { readonly request: Packet }[] };
  readonly watcherManager: Readonly<Record<"dataWatchers" | "childWatchers", Record<string, Emitter | undefined>>>;
  queue(request: Packet, callback: Callback): void;
  registerDataWatcher(path: string, watcher: (event: WatchedEvent) => void): void;
  registerChildWatcher(path: string, watcher: (event: WatchedEvent) => void): void;
  onSocketData(data: Buffer): void;
  findNextServer(callback: (server: unknown) => void): void;
  connect(): void;
}

/** The default port of ZooKeeper. */
const PORT = 2181;

/** A client. */
export interface ZkClient {
  readonly connectionManager: Manager;
  connect(): void;
  close(): void;
}

/** Whether an object is a client of node-zookeeper-client, by its properties. */
export function isZkClient(client: object): client is ZkClient {
  const manager = (client as Partial<ZkClient>).connectionManager as Partial<Manager> | undefined;
  return typeof manager?.queue === "function" && typeof manager.onSocketData === "function";
}

/**
 * The library cuts an IPv6 address at its first colon. This sets the servers of the address in a client that is not
 * connected.
 */
export function withServers(client: ZkClient, hosts: string): ZkClient {
  const manager = client.connectionManager;
  manager.servers = hosts.split(",").map((server) => {
    const [, bracketed, name, port] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(server) ?? [];
    return { host: bracketed ?? name, port: Number(port ?? PORT) };
  });
  manager.nextServerIndex = Math.floor(Math.random() * manager.servers.length);
  return client;
}
