/** In place of a client library in browsers, where there are no sockets. */
export const library = (): Promise<null> => Promise.resolve(null);
