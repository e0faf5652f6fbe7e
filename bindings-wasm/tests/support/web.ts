/** Requests to the middleware, over real HTTP. */

import { once } from "node:events";
import { type Server, request as send } from "node:http";
import { type AddressInfo, type Socket, connect as connectTo } from "node:net";
import { gunzipSync } from "node:zlib";

import { fresh } from "./backends.js";

export const SECRET = "a secret of the tests";
export const ORDER = '{"cents":1700}';

/** The response that a client received. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The port of a server. Waits until it listens. */
export async function portOf(server: Server): Promise<number> {
  if (!server.listening) {
    await once(server, "listening");
  }
  return (server.address() as AddressInfo).port;
}

/** A request with its own key, which may be sent again. */
export class Order {
  readonly key = fresh();
  readonly #port: number;
  readonly #path: string;

  constructor(port: number, path = "/") {
    this.#port = port;
    this.#path = path;
  }

  /** The address to which it is sent. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}${this.#path}`;
  }

  #headers(body: string) {
    return {
      "Host": "localhost",
      "Idempotency-Key": this.key,
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(body)),
    };
  }

  /** Sends it. The text of a compressed response is the decompressed text. */
  async post(body = ORDER, more: Record<string, string> = {}): Promise<Answer> {
    const headers = { ...this.#headers(body), ...more };
    const request = send({ port: this.#port, path: this.#path, method: "POST", headers, agent: false });
    request.end(body);
    const [response] = (await once(request, "response")) as [import("node:http").IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
    }
    const { statusCode: status = 0, headers: given } = response;
    const bytes = Buffer.concat(chunks);
    const text = String(given["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes);
    return { status, headers: given, text };
  }

  /** Sends it on a separate connection, which the test ends. */
  open(body = ORDER, more: Record<string, string> = {}): Socket {
    const socket = connectTo(this.#port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(this.bytes(body, more));
    return socket;
  }

  /** The bytes of the request. */
  bytes(body = ORDER, more: Record<string, string> = {}): string {
    const lines = Object.entries({ ...this.#headers(body), ...more }).map(([name, value]) => `${name}: ${value}`);
    return [`POST ${this.#path} HTTP/1.1`, ...lines, "", body].join("\r\n");
  }

  /** The same with the body as one chunk, and without a `Content-Length`. */
  chunked(body: string): string {
    const head = this.bytes("").replace("Content-Length: 0", "Transfer-Encoding: chunked");
    return `${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  }
}

/** The text that a connection receives, up to the match of a pattern. */
export async function received(socket: Socket, pattern: RegExp): Promise<string> {
  let text = "";
  while (!pattern.test(text)) {
    text += String((await once(socket, "data"))[0]);
  }
  return text;
}

/** An event that happens once, with a promise for it. */
export class Moment<T = void> {
  readonly come: Promise<T>;
  /** It happens. */
  readonly happen: (value: T) => void;

  constructor() {
    let happen: (value: T) => void = () => undefined;
    this.come = new Promise((resolve) => (happen = resolve));
    this.happen = happen;
  }
}
