/**
 * How objects of this package look in `console.log` and in JSON. Their members are private, so without this a log would
 * show an empty pair of braces.
 *
 * @module
 */

/** The name under which Node.js, Deno and Bun look for an object's own text. */
export const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom") as never;

type Inspect = (value: unknown, options: object) => string;

/** An object for `console.log`: its class and its fields. */
export function inspected(name: string, fields: object, options: object, inspect?: Inspect): string {
  return `${name} ${inspect === undefined ? JSON.stringify(fields) : inspect(fields, options)}`;
}
