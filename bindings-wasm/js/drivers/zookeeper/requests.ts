/**
 * Requests as bytes. The library picks the decoder of an answer by the type in the packet's header and nothing else, so the header says how to
 * decode and the bytes say what to do: that makes operations possible that the library does not know (container, sync).
 *
 * @module
 */

import type { NodeCommand } from "../../outputs.js";
import type { Packet } from "./library.js";

/** Who may do what with the nodes that are created. */
export interface Acl {
  /** A sum of 1 read, 2 write, 4 create, 8 delete, 16 admin. */
  readonly permissions: number;
  readonly scheme: string;
  readonly id: string;
}

export const OPEN: readonly Acl[] = [{ permissions: 31, scheme: "world", id: "anyone" }];

const OPCODE = { create: 1, container: 19, children: 12, get: 4, delete: 2, sync: 9 };

/** What decodes the answer: a path, nothing, data with a stat, children with a stat. */
const DECODER = { create: 1, delete: 2, sync: 2, get: 4, children: 12 };

// Flags of commands (docs/drivers.md) and, for create, of the protocol.
const EPHEMERAL_SEQUENTIAL = 1;
const CONTAINER = 2;
const WATCH = 4;
const CREATE_MODE = { persistent: 0, ephemeralSequential: 3, container: 4 };

/** A request that says when the library looks for the answer's owner. */
export class Request implements Packet {
  readonly header: { readonly type: number; xid: number };
  readonly payload: { setChrootPath(chroot: string): void };
  readonly command: NodeCommand;
  readonly #acl: readonly Acl[];
  #chroot = "";
  #xid = 0;

  constructor(command: NodeCommand, acl: readonly Acl[], seen: (request: Request) => void) {
    this.command = command;
    this.#acl = acl;
    const setXid = (xid: number) => {
      this.#xid = xid;
    };
    const getXid = () => {
      seen(this);
      return this.#xid;
    };
    this.header = {
      type: DECODER[command.operation],
      get xid() {
        return getXid();
      },
      set xid(xid) {
        setXid(xid);
      },
    };
    this.payload = {
      setChrootPath: (chroot) => {
        this.#chroot = chroot;
      },
    };
  }

  toBuffer(): Buffer {
    const { operation, path, data, flags } = this.command;
    const full = this.#chroot === "" ? path : path === "/" ? this.#chroot : this.#chroot + path;
    const bytes = new Writer(
      this.#xid,
      operation === "create" && flags === CONTAINER ? OPCODE.container : OPCODE[operation],
    );
    bytes.text(full);
    switch (operation) {
      case "create":
        bytes.buffer(data).int(this.#acl.length);
        for (const { permissions, scheme, id } of this.#acl) {
          bytes.int(permissions).text(scheme).text(id);
        }
        bytes.int(mode(flags));
        break;
      case "children":
        bytes.flag(false);
        break;
      case "get":
        bytes.flag((flags & WATCH) !== 0);
        break;
      case "delete":
        bytes.int(-1);
        break;
      case "sync":
        break;
    }
    return bytes.done();
  }
}

function mode(flags: number): number {
  return flags === EPHEMERAL_SEQUENTIAL
    ? CREATE_MODE.ephemeralSequential
    : flags === CONTAINER
      ? CREATE_MODE.container
      : CREATE_MODE.persistent;
}

/** Jute, as far as requests need it. */
class Writer {
  #bytes = Buffer.allocUnsafe(256);
  #end = 4;

  constructor(xid: number, opcode: number) {
    this.int(xid).int(opcode);
  }

  int(value: number): this {
    this.#room(4);
    this.#end = this.#bytes.writeInt32BE(value, this.#end);
    return this;
  }

  flag(value: boolean): this {
    this.#room(1);
    this.#end = this.#bytes.writeUInt8(value ? 1 : 0, this.#end);
    return this;
  }

  text(value: string): this {
    const length = Buffer.byteLength(value);
    this.int(length).#room(length);
    this.#end += this.#bytes.write(value, this.#end);
    return this;
  }

  buffer(value: Uint8Array): this {
    this.int(value.length).#room(value.length);
    this.#bytes.set(value, this.#end);
    this.#end += value.length;
    return this;
  }

  done(): Buffer {
    this.#bytes.writeInt32BE(this.#end - 4, 0);
    return this.#bytes.subarray(0, this.#end);
  }

  #room(length: number): void {
    if (this.#end + length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * (this.#end + length));
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
  }
}
