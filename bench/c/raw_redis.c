#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "raw.h"
#include "rd.h"
#include "rd_shared.h"
#include "scripts.h" /* generated: the texts in core/src/redis/scripts */

#define KEEP_TOMBSTONE "10000"

typedef struct raw {
    char name[128], fence[160], channel[160];
    /* Each acquire is a new attempt: a server rejects an attempt that was already released. */
    unsigned long attempts;
    char attempt[64], tombstone[256];
} raw;

static redisContext *connection;
/* The connection that the locks of many threads share; NULL if there is one lock. */
static rd_shared *shared;
static char acquire_sha[41], release_sha[41];
static unsigned long contenders;

static void run(int count, const char **arguments) {
    redisReply *reply = shared ? rd_shared_call(shared, count, arguments) : rd_call(connection, count, arguments);
    /* A cycle that fails must not count as a fast one. */
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements == 0 || reply->element[0]->integer != 1) {
        fail("script", "it has refused");
    }
    freeReplyObject(reply);
}

static void acquire(void *self) {
    raw *own = self;
    snprintf(own->attempt + 32, sizeof own->attempt - 32, "-%lu", ++own->attempts);
    snprintf(own->tombstone, sizeof own->tombstone, "{%s}:gone:%s", own->name, own->attempt);
    const char *arguments[] = {"EVALSHA",      acquire_sha,  "3",     own->name,   own->fence,
                               own->tombstone, own->attempt, "10000", "604800000", KEEP_TOMBSTONE};
    run(10, arguments);
}

static void release(void *self) {
    raw *own = self;
    const char *arguments[] = {
        "EVALSHA", release_sha, "2", own->name, own->tombstone, own->attempt, own->channel, KEEP_TOMBSTONE};
    run(8, arguments);
}

static void end(void *self) {
    (void)self;
    redisFree(connection);
}

static lock another(const char *name) {
    raw *own = calloc(1, sizeof *own);
    if (!own)
        fail(name, "out of memory");
    snprintf(own->name, sizeof own->name, "%s", name);
    snprintf(own->fence, sizeof own->fence, "{%s}:fence", own->name);
    snprintf(own->channel, sizeof own->channel, "{%s}:released", own->name);
    snprintf(own->attempt, sizeof own->attempt, "%016lx%016lx", (unsigned long)getpid(), ++contenders);
    return (lock){acquire, release, end, NULL, own};
}

lock raw_redis(const address *at, const char *name) {
    connection = rd_open(at);
    rd_load(connection, ACQUIRE_LUA, acquire_sha);
    rd_load(connection, RELEASE_LUA, release_sha);
    return another(name);
}

opening many_raw_redis(const address *at, const char *name) {
    raw_redis(at, name);
    shared = rd_share(connection);
    return another;
}
