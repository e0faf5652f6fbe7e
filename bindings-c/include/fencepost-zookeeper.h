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

/** Connects to `zk://HOST:PORT,.../PREFIX?session_timeout=MS`, as `fencepost_connect` does with the library that it
 * finds. After an expiry it makes a new session by itself. With libzookeeper_st it turns that library's log off
 * (`zoo_set_debug_level`): two threads that log at a time would share its buffers. */
fencepost_result fencepost_zookeeper_connect(const char *url, fencepost_client **client);

/**
 * Makes a client on a handle of libzookeeper_mt that the caller has; locks lie below `prefix`, which may be NULL or
 * empty, and get `acl`, which has to outlive the client; NULL for an open one. The handle is never closed by fencepost,
 * and has to outlive `fencepost_close` or its session: a watcher that is called for the end of the session may close
 * it. Its session watcher is wrapped, and put back by `fencepost_close` or with the end of the session: what is set
 * meanwhile with `zoo_set_watcher` takes the client's news away. Attach behind `zookeeper_init`: on an older session
 * the first grant comes a quarter of its timeout later. When the session ends, grants are lost, and later acquires give
 * `CONNECTION_CLOSED`: make a new client on the new handle. Blocking calls must not be made on the handle's own threads
 * (in its completions and watchers). By default the library resolves the servers' names anew several times for each
 * request, which makes a lock a third slower: `zoo_set_servers_resolution_delay(handle, -1)` leaves it to when a
 * connection is lost. Errors: `BAD_ARGUMENT` for a dead handle, or one that has a client already.
 */
fencepost_result fencepost_zookeeper_attach(
    zhandle_t *handle, const char *prefix, const struct ACL_vector *acl, fencepost_client **client);

#ifdef __cplusplus
}
#endif

#endif
