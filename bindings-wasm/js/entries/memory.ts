/**
 * `fencepost/memory`: clients for `memory:`, a server inside the process.
 *
 * @module fencepost/memory
 */

export * from "./client.js";
export { connectMemory as connect } from "../client/connect-memory.js";
export type { ConnectTimeout } from "../client/connect-timeout.js";
export { ClientSession, MemoryControls, memoryServer } from "../client/memory-server.js";
export type { MemoryMessage, MemoryNode, MemorySession } from "../hub/memory/reports.js";
