import { absent } from "../drivers/packages.js";

/** The client library; null if it is not installed. Bundlers accept a missing package if its import is in a `try`. */
export async function library() {
  try {
    return await import("redis");
  } catch (error) {
    return absent(error);
  }
}
