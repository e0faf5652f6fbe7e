/** The glue of the module for ZooKeeper; generated. */
export * from "./family.js";
