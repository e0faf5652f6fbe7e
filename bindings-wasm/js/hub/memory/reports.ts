/**
 * The reports of a memory server about itself.
 *
 * @module
 */

/** A hub on the server, and its session. */
export interface MemorySession {
  /** The id of the hub: it stays the same when the hub gets a new session. */
  readonly hub: number;
  /** The session; in the state `expired`, the one that has ended. */
  readonly session: bigint;
  /**
   * `suspended`: the hub has no connection, and the server keeps the session. `expired`: the server has ended the
   * session, and the hub, which is suspended or paused, has not learned of it.
   */
  readonly state: "connected" | "suspended" | "expired";
  /** Whether the hub is paused. */
  readonly paused: boolean;
}

/** A node on the server. */
export interface MemoryNode {
  readonly path: string;
  readonly data: Uint8Array;
  /** The id of the hub whose session owns the node; null if the node is not ephemeral. */
  readonly hub: number | null;
}

/** A message between a hub and the server. */
export interface MemoryMessage {
  /** Its number in the list, from 1. */
  readonly number: number;
  /** When it was sent, in ms on the hub's clock. An event has the time at which the hub got it. */
  readonly time: number;
  /** The id of the hub that sent or got it. */
  readonly hub: number;
  /** The session in which it was sent. */
  readonly session: bigint;
  /** `event`: what a hub receives without a request: a watch has fired, or its session has changed. */
  readonly kind: "request" | "reply" | "event";
  /**
   * The hub's command: for a reply, that of its request; for an event, that of the request that set the watch. null for
   * a change of the session.
   */
  readonly command: number | null;
  /**
   * A request: `create`, `children`, `get`, `set`, `delete`, `sync` or `multi`. A reply: `created`, `children`, `data`,
   * `done` or `error`. An event: the change of the watched node (`created`, `deleted`, `changed`, or `children` if its
   * children have changed), or the session's new state (`connecting`, `connected`, `suspended`, `expired` or `closed`).
   */
  readonly name: string;
  /** The node; for a `multi`, the node of each part; for the reply `children`, the names in it. */
  readonly paths: readonly string[];
  /** The error code of the reply `error`, such as -101; otherwise null. */
  readonly error: number | null;
  /** A description for people. It may change in later versions. */
  readonly text: string;
}
