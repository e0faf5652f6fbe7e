/**
 * A hub that carries out its own commands on a server in this process.
 *
 * @module
 */

import { MisuseError } from "../../errors.js";
import { zooKeeperModule } from "../families/zookeeper.js";
import type { RawServer } from "../glue/fencepost_memory.js";
import { Hub, type Settings, present } from "../hub.js";
import { type NodeCommand, type Output, operationNumber } from "../outputs.js";
import { type Asker, answering } from "./answers.js";

/** The server has no clock, so a session cannot expire. Any timeout will do. */
const SESSION_TIMEOUT = 60_000;

/** One session on a {@link MemoryServer}: a hub that never returns a command. */
export class MemoryHub extends Hub {
  override readonly id: number;
  readonly #server: RawServer;
  readonly #session: bigint;
  readonly #asker: Asker;
  /** The time of the last input. */
  #now = 0;
  /** The command that the hub is carrying out. */
  #command = 0;

  constructor(server: RawServer, now: number, seed: number) {
    super(zooKeeperModule(), "zookeeper", seed);
    this.#server = server;
    this.#now = present(now);
    this.#session = server.open();
    const session = this.#session;
    this.id = Number(session);
    super.session(now, "connecting", session);
    super.session(now, "connected", session, SESSION_TIMEOUT);
    this.#asker = {
      created: (path, zxid) => super.created(this.#now, this.#command, session, path, zxid),
      children: (names) => super.children(this.#now, this.#command, session, names),
      data: (data, stat) => super.data(this.#now, this.#command, session, data, stat),
      done: () => super.done(this.#now, this.#command, session),
      error: (code) => super.error(this.#now, this.#command, session, code),
      fired: (id, event) => super.watch(this.#now, id, session, event),
    };
  }

  override open(now: number, settings: Settings, contender: Uint8Array, seed = 0): number {
    this.#listen(now);
    return super.open(now, settings, contender, seed);
  }

  override acquire(now: number, key: number, acquireTimeout?: number): void {
    this.#listen(now);
    super.acquire(now, key, acquireTimeout);
  }

  override tryAcquire(now: number, key: number): void {
    this.#listen(now);
    super.tryAcquire(now, key);
  }

  override extend(now: number, key: number): void {
    this.#listen(now);
    super.extend(now, key);
  }

  override release(now: number, key: number): void {
    this.#listen(now);
    super.release(now, key);
  }

  override downgrade(now: number, key: number): void {
    this.#listen(now);
    super.downgrade(now, key);
  }

  override cancel(now: number, key: number): void {
    this.#listen(now);
    super.cancel(now, key);
  }

  override handleTimeout(now: number): void {
    this.#listen(now);
    super.handleTimeout(now);
  }

  override poll(only?: number): Output {
    return this.#carryOut(() => super.poll(only));
  }

  /** @internal */
  override next(): Output {
    return this.#carryOut(() => super.next());
  }

  override close(now: number, key: number): void {
    this.#listen(now);
    super.close(now, key);
  }

  override shutdown(now: number): void {
    this.#listen(now);
    super.shutdown(now);
  }

  override disconnect(now: number): void {
    this.#now = present(now);
    this.#server.end(this.#session);
    super.session(now, "closed", this.#session);
  }

  override created(): void {
    throw answersItself();
  }

  override children(): void {
    throw answersItself();
  }

  override data(): void {
    throw answersItself();
  }

  override done(): void {
    throw answersItself();
  }

  override error(): void {
    throw answersItself();
  }

  override reply(): void {
    throw answersItself();
  }

  override failed(): void {
    throw answersItself();
  }

  override session(): void {
    throw answersItself();
  }

  override watch(): void {
    throw answersItself();
  }

  override message(): void {
    throw answersItself();
  }

  override gone(): void {
    throw answersItself();
  }

  /** Handles what the server has reported since the last call. */
  #listen(now: number): void {
    this.#now = present(now);
    answering(this.#asker, () => this.#server.listen(this.#session));
  }

  #carryOut(poll: () => Output): Output {
    for (;;) {
      this.#listen(this.#now);
      const output = poll();
      if (output.type !== "command") {
        return output;
      }
      answering(this.#asker, () => this.#execute(output as NodeCommand));
    }
  }

  #execute({ id, operation, path, data, flags, parts }: NodeCommand): void {
    for (const part of parts) {
      this.#server.part(operationNumber(part.operation), part.path, part.data, part.flags, part.version);
    }
    this.#command = id;
    this.#server.execute(this.#now, this.#session, id, operationNumber(operation), path, data, flags);
  }
}

function answersItself(): MisuseError {
  return new MisuseError(
    208,
    "wrong-family",
    "this hub takes settings only, replies and notices come from its memory server, which answers by itself",
  );
}
