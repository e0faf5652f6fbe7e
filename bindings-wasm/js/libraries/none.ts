/** Replaces a client library in browsers, which have no sockets. */
export const library = (): Promise<null> => Promise.resolve(null);
