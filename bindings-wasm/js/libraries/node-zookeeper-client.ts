import { absent } from "../drivers/packages.js";

/** The client library; null if it is not installed. Bundlers let a package be absent whose import they see in a `try`. */
export async function library() {
  try {
    return await import("node-zookeeper-client");
  } catch (error) {
    return absent(error);
  }
}
