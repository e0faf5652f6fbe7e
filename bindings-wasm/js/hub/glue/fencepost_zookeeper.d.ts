/** The glue of the module for ZooKeeper; generated. */
export * from "./family.js";

/** How long a driver waits for the reply to the handshake, in whole milliseconds. */
export function handshakeTimeout(sessionTimeout: number, failures: number): number;
