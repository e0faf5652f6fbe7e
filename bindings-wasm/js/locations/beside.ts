import { builtin } from "../host.js";

declare const __dirname: string | undefined;

/**
 * The place that `locate` names from `import.meta.url`. A bundle in CommonJS has no such address: there, the place is
 * `path`, from the bundle's folder.
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
