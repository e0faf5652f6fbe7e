/**
 * The addresses of servers, and the functions with which the WebAssembly module makes them.
 *
 * @module
 */

/** A parsed address. */
export type Address =
  | { readonly kind: "memory"; readonly name: string; readonly sessionTimeout: number }
  | { readonly kind: "zookeeper"; readonly hosts: string; readonly prefix: string; readonly sessionTimeout: number }
  | RedisAddress;

/** The address of a Redis server, with the client's credentials. */
export interface RedisAddress {
  readonly kind: "redis";
  /** A name or an IP address; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The user and the password. The property is not enumerable, so no log shows it. */
  readonly credentials: Credentials;
  readonly database: number;
  readonly tls: boolean;
  /**
   * With TLS: the path of the file with the certificates that the client trusts. If it is empty, the client trusts the
   * system's.
   */
  readonly ca: string;
}

/** A user and a password, decoded. Each is empty if there is none. */
export interface Credentials {
  readonly user: string;
  readonly password: string;
}

// The module stores an address here, and its caller takes it: src/output.rs explains why nothing is returned.
let address: Address = { kind: "memory", name: "", sessionTimeout: 0 };

/** @internal The address that the module has parsed last. */
export function takeAddress(): Address {
  return address;
}

/** @internal */
export function memoryAddress(name: string, sessionTimeout: number): void {
  address = { kind: "memory", name, sessionTimeout };
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
