/**
 * Bodies of web streams.
 *
 * @module
 */

import type { Claim } from "../client/claim.js";
import { setTimeout } from "../host.js";
import { joined } from "./bytes.js";
import type { Gate } from "./gate.js";

/** The members of a `ReadableStreamDefaultReader` that this package uses. */
interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

/** The members of a `ReadableStream` that this package uses. */
export interface WebStream {
  getReader(): Reader;
}

/** Reads a body. Returns null if it is longer than `most` bytes. */
export async function readAll(stream: WebStream, most: number): Promise<Uint8Array | null> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return joined(chunks);
    }
    if (value !== undefined) {
      chunks.push(value);
      size += value.length;
    }
    if (size > most) {
      void reader.cancel().catch(() => undefined);
      return null;
    }
  }
}

/** A body that is not stored: the chunks that were read, the pending read, and the reader. */
export interface Pieces {
  readonly chunks: readonly Uint8Array[];
  readonly next: ReturnType<Reader["read"]>;
  readonly reader: Reader;
}

/** The beginning of a body: the whole body, or its first chunks. */
export type Beginning = { readonly whole: Uint8Array } | Pieces;

/** A body that comes in pieces. */
export function pieces(stream: WebStream): Pieces {
  const reader = stream.getReader();
  return { chunks: [], next: reader.read(), reader };
}

/**
 * Reads a body as long as it may be stored: up to `announced` bytes, the length in a header. Without it, only a body
 * that comes as a whole may be stored: one chunk, and the end together with it.
 */
export async function beginning(stream: WebStream, announced: number | null): Promise<Beginning> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const next = reader.read();
    const read = announced !== null || chunks.length === 0 ? await next : await atOnce(next);
    if (read?.done) {
      return { whole: joined(chunks) };
    }
    const value = read?.value;
    const isMore = size + (value?.length ?? 0) > (announced ?? 0);
    if (read === null || (announced === null ? chunks.length > 0 : isMore)) {
      return { chunks, next, reader };
    }
    if (value !== undefined) {
      chunks.push(value);
      size += value.length;
    }
  }
}

/** The result of a read; null if the read has to wait for I/O. */
function atOnce<T>(read: Promise<T>): Promise<T | null> {
  // The streams of texts and bytes close a few turns of the queue after their only chunk.
  return Promise.race([read, new Promise<null>((resolve) => setTimeout(resolve, 0, null))]);
}

/**
 * The rest of a body, as a stream. Before its end, it awaits `last` with the number of its bytes: before the last
 * bytes, if their number is known (`length`). If the reader cancels, the body is still read to its end. If the body
 * fails, it awaits `failed`.
 */
function passing(
  { chunks, next, reader }: Pieces,
  length: number | null,
  last: (size: number) => Promise<void>,
  failed: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const waiting = [...chunks];
  let read: ReturnType<Reader["read"]> | null = next;
  let size = 0;
  let isOver = false;
  const over = async () => {
    if (!isOver) {
      isOver = true;
      await last(size);
    }
  };
  /** The next chunk; null at the end. */
  const pull = async (): Promise<Uint8Array | null> => {
    let chunk = waiting.shift() ?? null;
    try {
      if (chunk === null) {
        const { done, value = new Uint8Array() } = await (read ?? reader.read());
        read = null;
        chunk = done ? null : value;
      }
    } catch (error) {
      await failed();
      throw error;
    }
    size += chunk?.length ?? 0;
    if (chunk === null || (length !== null && size >= length)) {
      await over();
    }
    return chunk;
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await pull();
      if (chunk === null) {
        controller.close();
      } else {
        controller.enqueue(chunk);
      }
    },
    async cancel() {
      while ((await pull()) !== null) {
        // The reader has cancelled.
      }
    },
  });
}

/** The rest of the response body of a claimed request. A retry gets only the status. */
export function unstored<R extends object>(
  begun: Pieces,
  length: number | null,
  status: number,
  gate: Gate<R>,
  claim: Claim,
): ReadableStream<Uint8Array> {
  return passing(
    begun,
    length,
    async (size) => {
      const lack = gate.lackOf(claim, status, length, size);
      if (lack !== null) {
        await gate.leave(claim);
        throw lack;
      }
      await gate.settle(claim, { status, headers: [], body: null });
    },
    () => gate.leave(claim),
  );
}
