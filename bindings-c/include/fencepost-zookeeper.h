/**
 * @file fencepost-zookeeper.h
 * Clients over the ZooKeeper C library. Link with libfencepost-zookeeper (libzookeeper_mt), or with
 * libfencepost-zookeeper-st (libzookeeper_st), which is faster and has no `fencepost_zookeeper_attach`.
 */
#ifndef FENCEPOST_ZOOKEEPER_H
#define FENCEPOST_ZOOKEEPER_H

#include <zookeeper/zookeeper.h>

#include "fencepost-client.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes a client of the servers at `zk://HOST:PORT,.../PREFIX?session_timeout=MS`; the same as `fencepost_connect`.
 * After an expiry, the client makes a new session. With libzookeeper_st, it turns off that library's log
 * (`zoo_set_debug_level`), because two threads that log at the same time would share its buffers. Errors: as
 * `fencepost_connect`.
 */
fencepost_result fencepost_zookeeper_connect(const char *url, fencepost_client **client);

/**
 * Makes a client on a handle of libzookeeper_mt that the program made. Locks are below `prefix`, which may be NULL or
 * empty. Their nodes get `acl`, which must outlive the client; NULL for an open ACL.
 *
 * - **Life.** fencepost never closes the handle. The handle must outlive `fencepost_close` or its session. A watcher
 *   that is called at the end of the session may close the handle.
 * - **Session watcher.** The client wraps it, and restores it at `fencepost_close` or at the end of the session. Do not
 *   call `zoo_set_watcher` in between: the client would no longer learn of its session.
 * - **A new session.** Call this function immediately after `zookeeper_init`. On an older session, the first grant
 *   comes a quarter of the session timeout later.
 * - **The end of the session.** Grants are lost, and later acquires return `CONNECTION_CLOSED`: make a new client on a
 *   new handle.
 * - **Blocking calls** must not be made on the handle's own threads (in its completions and watchers).
 * - **Speed.** By default, the library resolves the servers' names several times for each request, which makes a lock a
 *   third slower. After `zoo_set_servers_resolution_delay(handle, -1)` it resolves them only when a connection is lost.
 *
 * Errors: `BAD_ARGUMENT` for a handle that is not usable any more, or that has a client already.
 */
fencepost_result fencepost_zookeeper_attach(
    zhandle_t *handle, const char *prefix, const struct ACL_vector *acl, fencepost_client **client);

#ifdef __cplusplus
}
#endif

#endif
