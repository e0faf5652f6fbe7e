/**
 * The addresses of locks, and the constructors with which the WebAssembly module makes them.
 *
 * @module
 */

/** Where the locks are. */
export type Address =
  | { readonly kind: "memory"; readonly name: string }
  | { readonly kind: "zookeeper"; readonly hosts: string; readonly prefix: string; readonly sessionTimeout: number }
  | RedisAddress;

/** Where a Redis server is, and what it wants to know of a client. */
export interface RedisAddress {
  readonly kind: "redis";
  /** A name or an IP address; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** As whom. It is not enumerable, so that no log shows it. */
  readonly credentials: Credentials;
  readonly database: number;
  readonly tls: boolean;
  /** With TLS: the path of the file of certificates that the server's is checked against; empty for the system's. */
  readonly ca: string;
}

/** A user and a password, decoded; empty if there is none. */
export interface Credentials {
  readonly user: string;
  readonly password: string;
}

// The module makes an address and leaves it here for its caller: see src/output.rs for why nothing is returned.
let address: Address = { kind: "memory", name: "" };

/** @internal The address that the module has read last. */
export function takeAddress(): Address {
  return address;
}

/** @internal */
export function memoryAddress(name: string): void {
  address = { kind: "memory", name };
}

/** @internal */
export function zooKeeperAddress(hosts: string, prefix: string, sessionTimeout: number): void {
  address = { kind: "zookeeper", hosts, prefix, sessionTimeout };
}

/** @internal */
export function redisAddress(
  host: string,
  port: number,
  user: string,
  password: string,
  database: number,
  tls: boolean,
  ca: string,
): void {
  const credentials: Credentials = { user, password };
  const shown = { kind: "redis", host, port, database, tls, ca } as const;
  address = Object.defineProperty(shown, "credentials", { value: credentials }) as typeof shown & {
    credentials: Credentials;
  };
}
