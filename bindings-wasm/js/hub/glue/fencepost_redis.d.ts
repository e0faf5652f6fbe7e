/** The glue of the module for Redis; generated. */
export * from "./family.js";
