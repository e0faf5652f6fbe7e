/**
 * A hub that carries out its own commands on a server in this process.
 *
 * @module
 */

import { MisuseError, shown, unreadable } from "../../errors.js";
import { zooKeeperModule } from "../families/zookeeper.js";
import type { RawServer } from "../glue/fencepost_memory.js";
import { LONGEST_DURATION, optionalNumber, present } from "../checks.js";
import { Hub, type Settings } from "../hub.js";
import { type NodeCommand, type Output, operationNumber } from "../outputs.js";
import { type Asker, answering } from "./answers.js";

const PAUSED: Output = Object.freeze({ type: "wait", until: null, reason: null });

/** A hub on a {@link MemoryServer}, with one session at a time. It never returns a command. */
export class MemoryHub extends Hub {
  override readonly id: number;
  readonly #server: RawServer;
  readonly #asker: Asker;
  /** The present session. */
  #session = 0n;
  /** The time of the last input. */
  #now = 0;
  /** The command that the hub is carrying out. */
  #command = 0;

  constructor(server: RawServer, now: number, seed: number, sessionTimeout?: number) {
    super(zooKeeperModule(), "zookeeper", seed);
    this.#server = server;
    this.#asker = {
      created: (path, zxid) => super.created(this.#now, this.#command, this.#session, path, zxid),
      children: (names) => super.children(this.#now, this.#command, this.#session, names),
      data: (data, stat) => super.data(this.#now, this.#command, this.#session, data, stat),
      done: () => super.done(this.#now, this.#command, this.#session),
      error: (code) => super.error(this.#now, this.#command, this.#session, code),
      failed: (failure) => super.failed(this.#now, this.#command, failure),
      fired: (id, event) => super.watch(this.#now, id, this.#session, event),
      changed: (state, session, timeout) => {
        this.#session = session;
        super.session(this.#now, state, session, timeout);
      },
    };
    this.#now = present(now);
    const timeout = optionalNumber("sessionTimeout", sessionTimeout);
    if (timeout !== undefined && !(timeout >= 1 && timeout <= LONGEST_DURATION)) {
      throw unreadable(
        `sessionTimeout is ${shown(sessionTimeout)}: it has to be from 1 to ${LONGEST_DURATION} milliseconds`,
      );
    }
    this.id = server.connect(timeout);
    this.#listen(now);
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

  override complete(now: number, key: number, tag: string, result: Uint8Array): void {
    this.#listen(now);
    super.complete(now, key, tag, result);
  }

  override leave(now: number, key: number): void {
    this.#listen(now);
    super.leave(now, key);
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
    if (this.#listen(now)) {
      super.handleTimeout(now);
    }
  }

  override poll(only?: number): Output {
    return this.#carryOut(() => super.poll(only));
  }

  /** @internal */
  override next(): Output {
    return this.#carryOut(() => super.next());
  }

  override close(now: number, key: number): number | undefined {
    this.#listen(now);
    return super.close(now, key);
  }

  /** A paused hub could not release anything. */
  override shutdown(now: number): void {
    present(now);
    this.#server.resume(this.id);
    this.#listen(now);
    super.shutdown(now);
  }

  override disconnect(now: number): void {
    this.#now = present(now);
    answering(this.#asker, () => this.#server.disconnect(this.id, now));
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

  /** Handles the server's reports since the last call. Returns false if the hub is paused. */
  #listen(now: number): boolean {
    this.#now = present(now);
    return answering(this.#asker, () => this.#server.listen(this.id, this.#now));
  }

  #carryOut(poll: () => Output): Output {
    while (this.#listen(this.#now)) {
      const output = poll();
      if (output.type !== "command") {
        return output;
      }
      answering(this.#asker, () => this.#execute(output as NodeCommand));
    }
    return PAUSED;
  }

  #execute({ id, operation, path, data, flags, parts }: NodeCommand): void {
    for (const part of parts) {
      this.#server.part(operationNumber(part.operation), part.path, part.data, part.flags, part.version);
    }
    this.#command = id;
    this.#server.execute(this.#now, this.id, id, operationNumber(operation), path, data, flags);
  }
}

function answersItself(): MisuseError {
  return new MisuseError(
    208,
    "wrong-family",
    "this hub accepts no replies and notices: its memory server reports them itself",
  );
}
