/** The modules of the package, by the names of their files. */
export type WasmName = "zookeeper" | "redis" | "memory";
