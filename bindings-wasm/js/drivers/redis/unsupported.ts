/**
 * Objects of the Redis libraries that look like a client of one server, but are not.
 *
 * @module
 */

interface Row {
  /** A property that only such an object has. */
  readonly when: (client: object) => boolean;
  readonly why: string;
}

const has =
  (...names: string[]) =>
  (client: object) =>
    names.every((name) => name in client);

const ONE_SERVER = "give a client of the one server that the locks are on";

/** Whether a client of ioredis asks its sentinels for replicas. Without sentinels, ioredis ignores the role. */
function isOfReplicas(client: object): boolean {
  const { options } = client as { options?: { sentinels?: unknown; role?: unknown } };
  return Array.isArray(options?.sentinels) && options.role === "slave";
}

const ROWS: readonly Row[] = [
  {
    when: (client) => (client as { isCluster?: unknown }).isCluster === true || has("slots", "masters")(client),
    why: `a cluster client cannot be used: ${ONE_SERVER}`,
  },
  {
    // The second condition finds a connection that such a client lends: it leads to the present primary.
    when: (client) => has("getMasterNode")(client) || has("sendCommand", "release")(client),
    why: `a sentinel client of node-redis cannot be used: ${ONE_SERVER}, or an ioredis client with sentinels`,
  },
  {
    when: isOfReplicas,
    why: 'a client of replicas (role: "slave") cannot be used, because replicas refuse all writes: give a client with role: "master"',
  },
  { when: has("totalClients"), why: "a pool of node-redis cannot be used: give one client" },
  {
    when: (client) => has("v4")(client) || (has("sendCommand", "isReady")(client) && !has("destroy")(client)),
    why: "a client of node-redis 4 cannot be used, with legacyMode or without: install redis 5 or later, or install ioredis and give the address to connect()",
  },
  {
    when: (client) => has("sendCommand", "multi")(client) && !has("connect")(client) && !has("exec")(client),
    why: "the legacy interface of a client cannot be used: give the client itself",
  },
];

/** Why an object cannot be used; null if it can. */
export function unsupported(client: object): string | null {
  return ROWS.find(({ when }) => when(client))?.why ?? null;
}
