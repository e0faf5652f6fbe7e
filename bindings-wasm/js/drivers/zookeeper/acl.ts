/**
 * Who may do what with nodes.
 *
 * @module
 */

/** Who may do what with the nodes that are created. */
export interface Acl {
  /** A sum of 1 read, 2 write, 4 create, 8 delete, 16 admin. */
  readonly permissions: number;
  readonly scheme: string;
  readonly id: string;
}

export const OPEN: readonly Acl[] = [{ permissions: 31, scheme: "world", id: "anyone" }];
