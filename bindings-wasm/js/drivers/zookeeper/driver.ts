/**
 * The driver for ZooKeeper, with node-zookeeper-client.
 *
 * @module
 */

import type { Driver, Sink } from "../../engine/driver.js";
import { outside } from "../../host.js";
import { zooKeeperModule } from "../../hub/families/zookeeper.js";
import { Hub } from "../../hub/hub.js";
import type { Command, NodeCommand } from "../../hub/outputs.js";
import { type Acl, OPEN } from "../acl.js";
import type { PartResult, Response, ZkClient } from "./library.js";
import { type Listener, type Result, Session } from "./session.js";

/** The program's connected client; or a function that makes clients for the driver, one for each session. */
export type Source = { readonly client: ZkClient } | { readonly make: () => ZkClient };

/** Carries out commands for ZooKeeper. */
export class ZooKeeperDriver implements Driver {
  readonly family = "zookeeper";
  /** @internal */
  readonly module = zooKeeperModule();
  readonly at: string;
  readonly #source: Source;
  readonly #acl: readonly Acl[];
  #sink!: Sink;
  #session: Session | null = null;

  /** `at` is the servers' addresses, for error texts. */
  constructor(source: Source, acl: readonly Acl[] = OPEN, at = "the address of the given client") {
    this.#source = source;
    this.#acl = acl;
    this.at = at;
  }

  hub(_now: number, seed: number): Hub {
    return new Hub(this.module, this.family, seed);
  }

  start(sink: Sink): void {
    this.#sink = sink;
    this.#open();
  }

  get trouble(): unknown {
    return this.#session?.trouble;
  }

  send(command: Command): void {
    if (this.#session === null || "arguments" in command) {
      this.#sink.put((hub, now) => hub.failed(now, command.id, "closed"));
    } else {
      this.#session.send(command);
    }
  }

  flush(): void {
    this.#session?.flush();
  }

  forget(key: number): void {
    this.#session?.forget(key);
  }

  closing(): void {
    // Without a session, nothing was sent. With a session, the machines know which commands were sent.
  }

  async close(within: number): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await session?.close(within);
  }

  #open(): void {
    const source = this.#source;
    if ("make" in source) {
      this.#session = outside(() => new Session(source.make(), true, this.#acl, this.#listener()));
    } else {
      this.#session = new Session(source.client, false, this.#acl, this.#listener());
    }
  }

  #listener(): Listener {
    const sink = this.#sink;
    return {
      serves: (key) => sink.serves(key),
      answered: (command, session, result) => this.#answered(command, session, result),
      fired(ids, session, event) {
        for (const id of ids) {
          sink.put((hub, now) => hub.watch(now, id, session, event));
        }
      },
      broken: (error, command) => sink.broken(error, command?.id),
      trouble: (error) => sink.trouble(error),
      connecting: () => sink.put((hub, now) => hub.session(now, "connecting", 0n)),
      connected: (session, timeout) => {
        sink.reached();
        sink.put((hub, now) => hub.session(now, "connected", session, timeout));
      },
      suspended: (session) => sink.put((hub, now) => hub.session(now, "suspended", session)),
      ended: (session, how) => {
        sink.put((hub, now) => hub.session(now, how, session));
        if (how === "expired") {
          this.#renew(session);
        }
      },
    };
  }

  /**
   * Makes a new session after an expiry, if the driver makes its own. The library's client cannot be used after an
   * expiry.
   */
  #renew(expired: bigint): void {
    const over = this.#session;
    if (over === null) {
      return;
    }
    if ("client" in this.#source) {
      this.#sink.put((hub, now) => hub.session(now, "closed", expired));
      return;
    }
    void over.close();
    this.#open();
  }

  #answered(command: NodeCommand, session: bigint, result: Result): void {
    const { id } = command;
    if ("error" in result) {
      this.#sink.blame(id, result.error);
    }
    this.#sink.put((hub, now) => {
      if ("failure" in result) {
        hub.failed(now, id, result.failure);
      } else if ("code" in result) {
        hub.error(now, id, session, result.code);
      } else {
        answer(hub, now, command, session, result.response);
      }
    }, id);
  }
}

function answer(hub: Hub, now: number, { id, operation }: NodeCommand, session: bigint, response: Response): void {
  const { header, payload } = response;
  switch (operation) {
    case "create":
      hub.created(now, id, session, payload.path, header.zxid.readBigInt64BE());
      break;
    case "children":
      hub.children(now, id, session, payload.children);
      break;
    case "get": {
      const { data, stat } = payload;
      hub.data(now, id, session, data ?? new Uint8Array(), {
        czxid: stat.czxid.readBigInt64BE(),
        mzxid: stat.mzxid.readBigInt64BE(),
        ephemeralOwner: stat.ephemeralOwner.readBigInt64BE(),
        version: stat.version,
        created: Number(stat.ctime.readBigInt64BE()),
        modified: Number(stat.mtime.readBigInt64BE()),
      });
      break;
    }
    case "multi":
      answerMulti(hub, now, id, session, payload.results);
      break;
    default:
      hub.done(now, id, session);
  }
}

/** The error of the other parts, if one part of a multi fails. */
const ROLLED_BACK = [0, -2];

/** Every part of a failed multi has an error, although the header of the reply has none. */
function answerMulti(hub: Hub, now: number, id: number, session: bigint, results: readonly PartResult[]): void {
  const failed = results.find(({ err }) => err !== undefined && !ROLLED_BACK.includes(err));
  if (failed?.err !== undefined) {
    hub.error(now, id, session, failed.err);
    return;
  }
  const paths = results.flatMap(({ path }) => (path === undefined ? [] : [path]));
  const names = paths.map((path) => path.slice(path.lastIndexOf("/") + 1));
  hub.children(now, id, session, names);
}
