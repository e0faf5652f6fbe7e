/** The story in the address of the page. It determines everything that the page shows. */

import { BadStory, EMPTY, type Story, readStory, storyText } from "../story/actions.js";

/** A fragment with a story begins with this; other fragments are places of the page. */
const MARK = "story=";

/** The address of a story, relative to the page. */
export function addressOf(story: Story): string {
  return `#${MARK}${storyText(story)}`;
}

/** The content of an address. */
export interface Opened {
  readonly story: Story;
  readonly problem: string | null;
}

/** The state of a page without a story. */
export const START: Opened = { story: EMPTY, problem: null };

/** Reads a fragment; null if it is a place of the page, which does not change the story. */
export function opened(hash: string): Opened | null {
  const text = hash.replace(/^#/, "");
  if (text === "") {
    return START;
  }
  if (document.getElementById(text) !== null) {
    return null;
  }
  try {
    return { story: readStory(marked(decoded(text))), problem: null };
  } catch (error) {
    if (!(error instanceof BadStory)) {
      throw error;
    }
    return { story: EMPTY, problem: error.message };
  }
}

/** Programs that send addresses may escape the commas. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new BadStory("it has a % that begins no escaped character");
  }
}

function marked(text: string): string {
  if (!text.startsWith(MARK)) {
    throw new BadStory(`it begins with neither #${MARK} nor the name of a place of this page`);
  }
  return text.slice(MARK.length);
}
