#include "given.h"

#include <dlfcn.h>
#include <fencepost-zookeeper.h>
#include <stdio.h>
#include <string.h>

#include "worker.h"

static void *library;
static zhandle_t *handle;

/* Loaded for this subject only: in a program that is linked with libzookeeper_mt, fencepost uses that library for
 addresses too. */
static void find(const char *name, void *function) {
    void *symbol;
    if (!library && !(library = dlopen("libfencepost-zookeeper.so.0", RTLD_NOW | RTLD_LOCAL)))
        fail("libfencepost-zookeeper", dlerror());
    if (!(symbol = dlsym(library, name)))
        fail(name, dlerror());
    memcpy(function, &symbol, sizeof symbol);
}

fencepost_result given_open(const char *url, fencepost_client **client) {
    zhandle_t *(*init)(const char *, watcher_fn, int, const clientid_t *, void *, int, log_callback_fn);
    fencepost_result (*attach)(zhandle_t *, const char *, const struct ACL_vector *, fencepost_client **);
    int (*resolve_after)(zhandle_t *, int);
    void (*set_level)(ZooLogLevel);
    char hosts[300];
    address at;

    find("zookeeper_init2", &init);
    find("zoo_set_debug_level", &set_level);
    find("zoo_set_servers_resolution_delay", &resolve_after);
    find("fencepost_zookeeper_attach", &attach);
    read_address(url, &at);
    snprintf(hosts, sizeof hosts, "%s:%d", at.host, at.port);
    set_level(0);
    if (!(handle = init(hosts, NULL, at.session_timeout, NULL, NULL, ZOO_NO_LOG_CLIENTENV, NULL)))
        fail(hosts, "zookeeper_init2");
    resolve_after(handle, -1); /* as the raw client */
    return attach(handle, NULL, NULL, client);
}

void given_close(void) {
    int (*close_handle)(zhandle_t *);

    if (!handle)
        return;
    find("zookeeper_close", &close_handle);
    close_handle(handle);
}
