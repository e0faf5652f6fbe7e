/**
 * The certificates of an address with TLS.
 *
 * @module
 */

import { ConfigError } from "../../errors.js";

interface Host {
  getBuiltinModule?(name: "node:fs"): { readFileSync(path: string, encoding: "utf8"): string } | undefined;
}

/** Reads the file of certificates that replaces the system's. */
export function certificates(path: string): string {
  const files = (globalThis as { process?: Host }).process?.getBuiltinModule?.("node:fs");
  if (files === undefined) {
    throw unusable(path, "this runtime cannot read files");
  }
  let text: string;
  try {
    text = files.readFileSync(path, "utf8");
  } catch (error) {
    throw unusable(path, String(error), { cause: error });
  }
  // Node accepts a file without certificates, and then uses none, without an error.
  if (!/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/.test(text)) {
    throw unusable(path, "this file contains no certificate in the PEM format");
  }
  return text;
}

function unusable(path: string, why: string, options?: ErrorOptions): ConfigError {
  return new ConfigError(106, "invalid-url", `ca=${path}: ${why}`, options);
}
