import { builtin } from "../host.js";

declare const __dirname: string | undefined;

/**
 * The location that `locate` returns, from `import.meta.url`. A CommonJS bundle has no `import.meta.url`: there, the
 * location is `path`, relative to the bundle's folder.
 */
export function beside(path: string, locate: () => URL): URL {
  try {
    return locate();
  } catch (error) {
    const urls = builtin("node:url") as { pathToFileURL(path: string): URL } | undefined;
    if (typeof __dirname !== "string" || urls === undefined) {
      throw error;
    }
    return new URL(path, urls.pathToFileURL(`${__dirname}/`));
  }
}
