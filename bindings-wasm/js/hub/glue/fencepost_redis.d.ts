/** The glue of the module for Redis; generated. */
export * from "./family.js";

/** Whether an error of a Redis server means that the server is a replica. */
export function isFromReplica(error: string): boolean;
