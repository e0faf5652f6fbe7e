/**
 * The ACL of nodes.
 *
 * @module
 */

import { unreadable } from "../errors.js";

/** One entry of the ACL of the nodes that the client creates. */
export interface Acl {
  /** The sum of 1 read, 2 write, 4 create, 8 delete and 16 admin. */
  readonly permissions: number;
  readonly scheme: string;
  readonly id: string;
}

export const OPEN: readonly Acl[] = [{ permissions: 31, scheme: "world", id: "anyone" }];

/** @throws ConfigError if it is not a list of entries. */
export function checkedAcl(acl: unknown): readonly Acl[] | undefined {
  if (acl === undefined) {
    return undefined;
  }
  const fits = (one: unknown) => {
    const { permissions, scheme, id } = (one ?? {}) as Partial<Acl>;
    return Number.isInteger(permissions) && typeof scheme === "string" && typeof id === "string";
  };
  if (!Array.isArray(acl) || acl.length === 0 || !acl.every(fits)) {
    throw unreadable("acl has to be a list of {permissions, scheme, id}");
  }
  return acl as Acl[];
}
