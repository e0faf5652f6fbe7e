// Changes the code that the generator writes around a module.

/** The generator assumes that these are globals, but some platforms do not have them. */
const CODERS = 'import { TextDecoder, TextEncoder } from "../../host.js";';

/** Removes the digests from the generator's names of a module's imports, because digests hardly compress. */
export function short(text) {
  return text.replace(/(["'])\.\/fencepost_\w+_bg\.js\1/g, '"_"').replace(/__wbg_(\w+)_[0-9a-f]{16}/g, "$1");
}

/** A line that imports a whole file, or that gives the module such a file. */
const WHOLE_FILE = /^(import \* as |\s+"\S+": )import\d+/;

/**
 * Removes repeated lines for a file: the generator writes a line for each function of it, and bundlers warn of repeated
 * keys.
 */
export function unrepeated(text) {
  const seen = new Set();
  const isFirst = (line) => {
    const plain = line.replace(/import\d+/, "");
    return !seen.has(plain) && seen.add(plain);
  };
  return text
    .split("\n")
    .filter((line) => !WHOLE_FILE.test(line) || isFirst(line))
    .join("\n");
}

/** The code as the package has it. */
export function glueOf(text) {
  return `${CODERS}\n${unrepeated(short(text))}`;
}
