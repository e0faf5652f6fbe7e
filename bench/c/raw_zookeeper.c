#include <stdio.h>
#include <string.h>

#include "raw.h"
#include "zk.h"

static struct {
    zk z;
    char directory[ZK_PATH / 2], prefix[ZK_PATH];
} own;

static const char DATA[] = "0000000000000000000000000000000000";

static void check(const char *what) {
    int code = zk_wait(&own.z);
    if (code != ZOK)
        fail(what, zerror(code));
}

static void acquire(void *self) {
    (void)self;
    zk_create(&own.z, own.prefix, DATA, (int)sizeof DATA - 1, ZOO_EPHEMERAL_SEQUENTIAL);
    zk_children(&own.z, own.directory);
    check("create and children");
}

static void release(void *self) {
    (void)self;
    zk_delete(&own.z, own.z.node);
    check("delete");
}

static void end(void *self) {
    (void)self;
    zk_close(&own.z);
}

lock raw_zookeeper(const address *at, const char *name) {
    zk_open(&own.z, at, name);
    snprintf(own.directory, sizeof own.directory, "/%s", name);
    snprintf(own.prefix, sizeof own.prefix, "%s/_c_00000000-0000-0000-0000-000000000001-lock-", own.directory);
    return (lock){acquire, release, end, NULL, NULL};
}
