#include "zk.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void answered(zk *z, int code) {
    pthread_mutex_lock(&z->mutex);
    if (code != ZOK)
        z->code = code;
    if (--z->waiting == 0)
        pthread_cond_signal(&z->changed);
    pthread_mutex_unlock(&z->mutex);
}

static void created(int code, const char *path, const struct Stat *stat, const void *context) {
    zk *z = (zk *)context;
    (void)stat;
    if (code == ZOK)
        snprintf(z->node, sizeof z->node, "%s", path);
    answered(z, code);
}

static void listed(int code, const struct String_vector *children, const void *context) {
    (void)children;
    answered((zk *)context, code);
}

static void deleted(int code, const void *context) {
    answered((zk *)context, code);
}

static void read(int code, const char *data, int length, const struct Stat *stat, const void *context) {
    zk *z = (zk *)context;
    (void)data;
    (void)length;
    if (code == ZOK)
        z->czxid = stat->czxid;
    answered(z, code);
}

static void started(int code) {
    if (code != ZOK)
        fail("libzookeeper", zerror(code));
}

static void expect(zk *z) {
    pthread_mutex_lock(&z->mutex);
    z->waiting++;
    pthread_mutex_unlock(&z->mutex);
}

void zk_create(zk *z, const char *path, const char *data, int length, int flags) {
    expect(z);
    started(zoo_acreate2(z->handle, path, data, length, &ZOO_OPEN_ACL_UNSAFE, flags, created, z));
}

static void committed(int code, const void *context) {
    answered((zk *)context, code);
}

void zk_multi(zk *z, int count, const zoo_op_t *steps) {
    expect(z);
    started(zoo_amulti(z->handle, count, steps, z->results, committed, z));
}

void zk_children(zk *z, const char *path) {
    expect(z);
    started(zoo_aget_children(z->handle, path, 0, listed, z));
}

void zk_delete(zk *z, const char *path) {
    expect(z);
    started(zoo_adelete(z->handle, path, -1, deleted, z));
}

void zk_get(zk *z, const char *path, watcher_fn watcher, void *context) {
    expect(z);
    started(zoo_awget(z->handle, path, watcher, context, read, z));
}

int zk_wait(zk *z) {
    pthread_mutex_lock(&z->mutex);
    while (z->waiting)
        pthread_cond_wait(&z->changed, &z->mutex);
    int code = z->code;
    z->code = ZOK;
    pthread_mutex_unlock(&z->mutex);
    return code;
}

static void session(zhandle_t *handle, int type, int state, const char *path, void *context) {
    zk *z = context;
    (void)handle;
    (void)path;
    if (type != ZOO_SESSION_EVENT)
        return;
    pthread_mutex_lock(&z->mutex);
    z->connected = state == ZOO_CONNECTED_STATE;
    pthread_cond_signal(&z->changed);
    pthread_mutex_unlock(&z->mutex);
}

static void make(zk *z, const char *name) {
    char directory[ZK_PATH];
    snprintf(directory, sizeof directory, "/%s", name);
    zk_create(z, directory, "", 0, ZOO_PERSISTENT);
    int code = zk_wait(z);
    if (code != ZOK && code != ZNODEEXISTS)
        fail(directory, zerror(code));
}

void zk_open(zk *z, const address *at, const char *name) {
    char hosts[300];
    memset(z, 0, sizeof *z);
    pthread_mutex_init(&z->mutex, NULL);
    pthread_cond_init(&z->changed, NULL);
    zoo_set_debug_level(0);
    snprintf(hosts, sizeof hosts, "%s:%d", at->host, at->port);
    z->handle = zookeeper_init2(hosts, session, at->session_timeout, NULL, z, ZOO_NO_LOG_CLIENTENV, NULL);
    if (!z->handle)
        fail(hosts, "zookeeper_init2");
    /* As in fencepost's driver: by default, the library resolves names again several times for each request. */
    zoo_set_servers_resolution_delay(z->handle, -1);
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 10;
    pthread_mutex_lock(&z->mutex);
    while (!z->connected) {
        if (pthread_cond_timedwait(&z->changed, &z->mutex, &limit) != 0)
            fail(hosts, "no connection within 10 s");
    }
    pthread_mutex_unlock(&z->mutex);
    make(z, name);
}

void zk_share(zk *z, const zk *opened, const char *name) {
    memset(z, 0, sizeof *z);
    pthread_mutex_init(&z->mutex, NULL);
    pthread_cond_init(&z->changed, NULL);
    z->handle = opened->handle;
    make(z, name);
}

void zk_close(zk *z) {
    zookeeper_close(z->handle);
}
