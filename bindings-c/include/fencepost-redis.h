/**
 * @file fencepost-redis.h
 *
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
 * Makes a client of the server at `redis://USER:PASSWORD@HOST:PORT/DATABASE`; the same as `fencepost_connect`. The
 * client has one connection for commands and, once a contender waits for a lock, one for subscriptions. It replaces a
 * connection that has ended. It resolves a host name with getaddrinfo, which blocks.
 *
 * `rediss://` is Redis over TLS, with libfencepost-redis-tls. The client checks the server's certificate against the
 * system's certificates, or against those in the file of `rediss://HOST:PORT?ca=/path/ca.pem`. If the certificate is
 * not trusted, every acquire returns `SERVER_ERROR`.
 *
 * Errors: as `fencepost_connect`; `INVALID_URL` for a file without certificates; `DRIVER_MISSING` without
 * libfencepost-redis-tls.
 */
fencepost_result fencepost_redis_connect(const char *url, fencepost_client **client);

/**
 * Makes a client on connections of the program. They must be connected and authenticated, and must outlive
 * `fencepost_close`. fencepost never closes them. `subscriptions` is a second connection that is used for nothing else.
 * It may be NULL; waiters then ask ten times a second, because no message can reach them.
 *
 * - **Without an event loop.** If no event loop is attached to the contexts, the client drives them, from any thread,
 *   and blocking calls work. The program does not use them until `fencepost_close`. The program's callbacks on them (of
 *   a disconnect, or of replies to earlier commands) run without any lock of fencepost. They may call everything that
 *   does not wait, but cannot close or free the client; blocking calls return `WOULD_BLOCK` in them.
 * - **With an event loop.** If an event loop is attached, it drives both contexts. Make all calls on this client,
 *   `fencepost_client_fd` included, on the thread of that loop, and use the `_start` and `_finish` functions; blocking
 *   calls return `WOULD_BLOCK`.
 *
 * The client wraps the disconnect callbacks of the contexts, and `fencepost_close` restores them. When a connection has
 * ended, acquires return `CONNECTION_CLOSED`: make a new client. fencepost does not close a connection that has not
 * answered for 5 s. The `UNREACHABLE` of an acquire and the loss of a grant name it, and the program should close it.
 *
 * Errors: `BAD_ARGUMENT` for a context that is not connected, that monitors, or that has a client already.
 */
fencepost_result
fencepost_redis_attach(redisAsyncContext *commands, redisAsyncContext *subscriptions, fencepost_client **client);

#ifdef __cplusplus
}
#endif

#endif
