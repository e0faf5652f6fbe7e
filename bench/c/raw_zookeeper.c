#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"
#include "zk.h"

typedef struct raw {
    zk z;
    char directory[ZK_PATH / 2], prefix[ZK_PATH];
} raw;

static const char DATA[] = "0000000000000000000000000000000000";

/* The connection that the locks of many threads share. */
static zk shared;

static void check(raw *own, const char *what) {
    int code = zk_wait(&own->z);
    if (code != ZOK)
        fail(what, zerror(code));
}

static void acquire(void *self) {
    raw *own = self;
    zk_create(&own->z, own->prefix, DATA, (int)sizeof DATA - 1, ZOO_EPHEMERAL_SEQUENTIAL);
    zk_children(&own->z, own->directory);
    check(own, "create and children");
}

static void release(void *self) {
    raw *own = self;
    zk_delete(&own->z, own->z.node);
    check(own, "delete");
}

static void end(void *self) {
    raw *own = self;
    zk_close(&own->z);
}

static raw *raw_of(const char *name) {
    raw *own = calloc(1, sizeof *own);
    if (!own)
        fail(name, "out of memory");
    snprintf(own->directory, sizeof own->directory, "/%s", name);
    snprintf(own->prefix, sizeof own->prefix, "%s/_c_00000000-0000-0000-0000-000000000001-lock-", own->directory);
    return own;
}

lock raw_zookeeper(const address *at, const char *name) {
    raw *own = raw_of(name);
    zk_open(&own->z, at, name);
    return (lock){acquire, release, end, NULL, own};
}

static lock another(const char *name) {
    raw *own = raw_of(name);
    zk_share(&own->z, &shared, name);
    return (lock){acquire, release, end, NULL, own};
}

opening many_raw_zookeeper(const address *at, const char *name) {
    zk_open(&shared, at, name);
    return another;
}
