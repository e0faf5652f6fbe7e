/**
 * Requests as bytes. The library chooses the decoder of a reply only by the type in the packet's header. So the header
 * selects the decoder, and the bytes have the operation. This allows operations that the library does not have
 * (container, sync).
 *
 * @module
 */

import type { NodeCommand, Part } from "../../hub/outputs.js";
import type { Acl } from "../acl.js";
import type { Packet } from "./library.js";

const OPCODE = { create: 1, container: 19, children: 12, get: 4, set: 5, delete: 2, sync: 9, check: 13, multi: 14 };

/**
 * The decoder of the reply: a path, nothing, data with a stat, a stat, children with a stat, or the results of the
 * parts.
 */
const DECODER = { create: 1, delete: 2, sync: 2, get: 4, set: 5, children: 12, multi: 14 };

// Flags of commands (docs/reference/drivers.md) and, for create, of the protocol.
const EPHEMERAL_SEQUENTIAL = 1;
const CONTAINER = 2;
export const WATCH = 4;
const EPHEMERAL = 8;

/** The protocol's modes by fencepost's flags. */
const CREATE_MODE = new Map([
  [EPHEMERAL, 1],
  [EPHEMERAL_SEQUENTIAL, 3],
  [CONTAINER, 4],
]);

/** A command that the server carries out. */
export type ServerCommand = NodeCommand & { readonly operation: Exclude<NodeCommand["operation"], "reconnect"> };

/** Whether a command is for the server. The others are for the driver. */
export function isForServer(command: NodeCommand): command is ServerCommand {
  return command.operation !== "reconnect";
}

/** A request that reports when the library reads its number, to find the request of a reply. */
export class Request implements Packet {
  readonly header: { readonly type: number; xid: number };
  readonly payload: { setChrootPath(chroot: string): void };
  readonly command: ServerCommand;
  readonly #acl: readonly Acl[];
  #chroot = "";
  #xid = 0;

  constructor(command: ServerCommand, acl: readonly Acl[], seen: (request: Request) => void) {
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
    const bytes = new Writer(this.#xid, opcode(this.command));
    if (this.command.operation === "multi") {
      // A header comes before each part: its type, whether it is the end, and an error that the server ignores.
      for (const part of this.command.parts) {
        bytes.int(opcode(part)).flag(false).int(-1);
        this.#write(bytes, part, part.version);
      }
      bytes.int(-1).flag(true).int(-1);
    } else {
      this.#write(bytes, this.command, ANY_VERSION);
    }
    return bytes.done();
  }

  #write(bytes: Writer, { operation, path, data, flags }: ServerCommand | Part, version: number): void {
    bytes.text(this.#chroot === "" ? path : path === "/" ? this.#chroot : this.#chroot + path);
    switch (operation) {
      case "create":
        bytes.buffer(data).int(this.#acl.length);
        for (const { permissions, scheme, id } of this.#acl) {
          bytes.int(permissions).text(scheme).text(id);
        }
        bytes.int(CREATE_MODE.get(flags) ?? 0);
        break;
      case "children":
      case "get":
        bytes.flag((flags & WATCH) !== 0);
        break;
      case "set":
        bytes.buffer(data).int(version);
        break;
      case "delete":
      case "check":
        bytes.int(version);
        break;
    }
  }
}

const ANY_VERSION = -1;

function opcode({ operation, flags }: ServerCommand | Part): number {
  return operation === "create" && flags === CONTAINER ? OPCODE.container : OPCODE[operation];
}

/** Writes the parts of Jute that requests need. */
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
