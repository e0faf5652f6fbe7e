/** Checks of errors. */

import { ConfigError, MisuseError } from "fencepost";

export const isConfig =
  (kind: string, says = /./) =>
  (error: unknown) =>
    error instanceof ConfigError && error.kind === kind && error.code < 200 && says.test(error.message);

export const isMisuse =
  (kind: string, says = /./) =>
  (error: unknown) =>
    error instanceof MisuseError && error.kind === kind && says.test(String(error));
