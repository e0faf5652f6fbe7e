#include <stdio.h>

#include "raw.h"
#include "rd.h"
#include "scripts.h" /* generated: the texts in core/src/redis/scripts */

#define ATTEMPT "00000000000000000000000000000000-1"

static struct {
    redisContext *c;
    char acquire[41], release[41];
    char name[128], fence[160], tombstone[192], channel[160];
} own;

static void run(int count, const char **arguments) {
    redisReply *reply = rd_call(own.c, count, arguments);
    /* A cycle that does nothing would be quick. */
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements == 0 || reply->element[0]->integer != 1) {
        fail("script", "it has refused");
    }
    freeReplyObject(reply);
}

static void acquire(void *self) {
    (void)self;
    const char *arguments[] = {
        "EVALSHA", own.acquire, "3", own.name, own.fence, own.tombstone, ATTEMPT, "10000", "604800000"};
    run(9, arguments);
}

static void release(void *self) {
    (void)self;
    const char *arguments[] = {"EVALSHA", own.release, "2", own.name, own.tombstone, ATTEMPT, own.channel, "0"};
    run(8, arguments);
}

static void end(void *self) {
    (void)self;
    redisFree(own.c);
}

lock raw_redis(const address *at, const char *name) {
    own.c = rd_open(at);
    rd_load(own.c, ACQUIRE_LUA, own.acquire);
    rd_load(own.c, RELEASE_LUA, own.release);
    snprintf(own.name, sizeof own.name, "%s", name);
    snprintf(own.fence, sizeof own.fence, "{%s}:fence", own.name);
    snprintf(own.tombstone, sizeof own.tombstone, "{%s}:gone:" ATTEMPT, own.name);
    snprintf(own.channel, sizeof own.channel, "{%s}:released", own.name);
    return (lock){acquire, release, end, NULL, NULL};
}
