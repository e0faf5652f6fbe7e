/** Places the messages of a sequence diagram. The page draws what this returns. */

import type { Message } from "./server.js";

/** Lengths in the diagram's units, which are pixels unless it is zoomed. */
export const LANE = 150;
const MARGIN = 80;
const LINE = 15;
const HEAD = 34;
const LETTER = 9;

/** The characters of a line of text that fit between two lifelines. */
const WIDEST = 26;

/** An arrow from one lifeline to another; for the kind `cut`, a mark on the contender's lifeline. */
export interface Arrow {
  readonly y: number;
  readonly from: number;
  readonly to: number;
  readonly kind: Message["kind"];
  readonly lines: readonly { readonly text: string; readonly y: number }[];
  readonly middle: number;
}

/** A text across all lifelines: which action the messages below it belong to. */
export interface Band {
  readonly y: number;
  readonly text: string;
}

export interface Diagram {
  readonly width: number;
  readonly height: number;
  readonly lanes: readonly { readonly name: string; readonly x: number }[];
  readonly arrows: readonly Arrow[];
  readonly bands: readonly Band[];
}

/** Messages of one action. */
export interface Group {
  readonly title: string;
  readonly messages: readonly Message[];
}

/** The server stands at the left, and the contenders in their order. */
export function diagram(groups: readonly Group[]): Diagram {
  const names = [...new Set(groups.flatMap(({ messages }) => messages.map(({ who }) => who)))].sort();
  const lanes = ["server", ...names].map((name, index) => ({ name, x: MARGIN + index * LANE }));
  const x = new Map(lanes.map((lane) => [lane.name, lane.x]));
  const arrows: Arrow[] = [];
  const bands: Band[] = [];
  let y = HEAD;
  for (const { title, messages } of groups) {
    y += 26;
    bands.push({ y, text: title });
    for (const { who, kind, text } of messages) {
      const ends = [x.get("server") ?? 0, x.get(who) ?? 0] as const;
      const [from, to] = kind === "request" ? [ends[1], ends[0]] : kind === "cut" ? [ends[1], ends[1]] : ends;
      y += 8;
      // The text is beside the contender's lifeline, where its lane has no other arrow.
      const lines = wrapped(text).map((line) => ({ text: line, y: (y += LINE) }));
      y += 7;
      arrows.push({ y, from, to, kind, lines, middle: ends[1] - LANE / 2 });
    }
  }
  const widest = Math.max(0, ...bands.map(({ text }) => text.length * LETTER));
  const width = Math.max(MARGIN * 2 + LANE * names.length, MARGIN + widest);
  return { width, height: y + 20, lanes, arrows, bands };
}

/** Lines of at most {@link WIDEST} characters, broken at spaces where there are any. */
export function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > WIDEST) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
