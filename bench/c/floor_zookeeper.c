/* One node that exists while it is held. A waiter watches it, and its acquire returns with the watch event; the waiter
 * creates the node again only after it has noted that time, so that the next hand-off finds the node. */
#include <stdio.h>

#include "raw.h"
#include "zk.h"

static struct {
    zk z;
    char path[ZK_PATH];
    int gone;
    int64_t moment;
} own;

static void event(zhandle_t *handle, int type, int state, const char *path, void *context) {
    int64_t now = clock_ns();
    (void)handle;
    (void)state;
    (void)path;
    (void)context;
    if (type != ZOO_DELETED_EVENT)
        return;
    pthread_mutex_lock(&own.z.mutex);
    own.moment = now;
    own.gone = 1;
    pthread_cond_signal(&own.z.changed);
    pthread_mutex_unlock(&own.z.mutex);
}

static void acquire(void *self) {
    (void)self;
    own.gone = 0;
    zk_get(&own.z, own.path, event, NULL);
    int code = zk_wait(&own.z);
    if (code == ZOK) {
        pthread_mutex_lock(&own.z.mutex);
        while (!own.gone)
            pthread_cond_wait(&own.z.changed, &own.z.mutex);
        pthread_mutex_unlock(&own.z.mutex);
    } else if (code == ZNONODE) {
        own.moment = clock_ns();
    } else {
        fail("get", zerror(code));
    }
    zk_create(&own.z, own.path, "", 0, ZOO_EPHEMERAL);
    if ((code = zk_wait(&own.z)) != ZOK)
        fail("create", zerror(code));
}

static void release(void *self) {
    (void)self;
    own.moment = clock_ns();
    zk_delete(&own.z, own.path);
    int code = zk_wait(&own.z);
    if (code != ZOK)
        fail("delete", zerror(code));
}

static int64_t moment(void *self) {
    (void)self;
    return own.moment;
}

static void end(void *self) {
    (void)self;
    zk_close(&own.z);
}

lock floor_zookeeper(const address *at, const char *name) {
    zk_open(&own.z, at, name);
    snprintf(own.path, sizeof own.path, "/%s/held", name);
    return (lock){acquire, release, end, moment, NULL};
}
