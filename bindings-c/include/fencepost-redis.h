/**
 * @file fencepost-redis.h
 * Clients over hiredis. Link with libfencepost-redis.
 */
#ifndef FENCEPOST_REDIS_H
#define FENCEPOST_REDIS_H

#include <hiredis/async.h>

#include "fencepost-client.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Connects to `redis://USER:PASSWORD@HOST:PORT/DATABASE`, with one connection for commands and, once a lock is waited
 * for, one for subscriptions; the same as `fencepost_connect`. Connections are made anew when they have ended. A host
 * name is resolved with getaddrinfo, which blocks.
 *
 * `rediss://` is the same with TLS, by libfencepost-redis-tls: the server's certificate is checked against the system's
 * certificates, or those in the file of `rediss://HOST:PORT?ca=/path/ca.pem`. A server that is not trusted gives
 * `SERVER_ERROR` to every acquire. Errors: `INVALID_URL` for a file without certificates, `DRIVER_MISSING` without the
 * library.
 */
fencepost_result fencepost_redis_connect(const char *url, fencepost_client **client);

/**
 * Makes a client on connections that the caller has: connected, authenticated, never closed by fencepost, and outliving
 * `fencepost_close`. `subscriptions` is a second connection that is used for nothing else, or NULL: then a waiter asks
 * ten times a second instead of being told.
 *
 * If the contexts have no event loop attached, the client drives them, from whatever thread, and blocking calls work:
 * the program leaves them alone until `fencepost_close`. Its callbacks on them (their end, replies to what it has sent
 * before) run without any lock of fencepost: they may ask and begin everything, cannot close or free the client, and
 * blocking calls give `WOULD_BLOCK` in them. If they have, both are
 * driven by that loop: then use everything of this client on the loop's thread, `fencepost_client_fd` among it, and the
 * `_start` and `_finish` functions; blocking calls give `WOULD_BLOCK`. The contexts' disconnect callbacks are wrapped,
 * and put back by `fencepost_close`. When a connection has ended, acquires give `CONNECTION_CLOSED`: make a new client.
 * A connection that has not answered for 5 s stays open, and is named in the `UNREACHABLE` of an acquire and in the
 * loss of a grant: end it. Errors: `BAD_ARGUMENT` for a context that is not connected, or one that has a client
 * already.
 */
fencepost_result
fencepost_redis_attach(redisAsyncContext *commands, redisAsyncContext *subscriptions, fencepost_client **client);

#ifdef __cplusplus
}
#endif

#endif
