/* Waits for the replies of libzookeeper_mt: code that every program with its asynchronous calls must write. */
#ifndef BENCH_ZK_H
#define BENCH_ZK_H

#include <pthread.h>
#include <zookeeper/zookeeper.h>

#include "worker.h"

#define ZK_PATH 512
#define ZK_STEPS 2

typedef struct zk {
    zhandle_t *handle;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int connected;
    int waiting; /* replies that have not come yet */
    int code;    /* the last one that was not ZOK */
    char node[ZK_PATH];
    int64_t czxid; /* of the node that was read last */
    zoo_op_result_t results[ZK_STEPS];
} zk;

/* Connects, and makes a permanent node at /name: in a pause, the server would delete a container node. */
void zk_open(zk *z, const address *at, const char *name);
void zk_close(zk *z);
/* Shares the connection of `opened`, and makes a node as zk_open does. Do not close it. */
void zk_share(zk *z, const zk *opened, const char *name);

/* Requests without waiting: zk_wait waits for all of them, and returns the first code that is not ZOK. */
void zk_create(zk *z, const char *path, const char *data, int length, int flags); /* fills z->node */
void zk_children(zk *z, const char *path);
void zk_delete(zk *z, const char *path);
void zk_get(zk *z, const char *path, watcher_fn watcher, void *context); /* fills z->czxid */
void zk_multi(zk *z, int count, const zoo_op_t *steps);                  /* at most ZK_STEPS */
int zk_wait(zk *z);

#endif
