#include <stdio.h>
#include <unistd.h>

#include "raw.h"
#include "rd.h"
#include "scripts.h" /* generated: the texts in core/src/redis/scripts */

#define KEEP_TOMBSTONE "10000"

static struct {
    redisContext *c;
    char acquire[41], release[41];
    char name[128], fence[160], channel[160];
    /* Each acquire is a new attempt: a server refuses one that has been released. */
    unsigned long attempts;
    char attempt[64], tombstone[256];
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
    snprintf(own.attempt, sizeof own.attempt, "%032lx-%lu", (unsigned long)getpid(), ++own.attempts);
    snprintf(own.tombstone, sizeof own.tombstone, "{%s}:gone:%s", own.name, own.attempt);
    const char *arguments[] = {"EVALSHA",     own.acquire, "3",     own.name,    own.fence,
                               own.tombstone, own.attempt, "10000", "604800000", KEEP_TOMBSTONE};
    run(10, arguments);
}

static void release(void *self) {
    (void)self;
    const char *arguments[] = {
        "EVALSHA", own.release, "2", own.name, own.tombstone, own.attempt, own.channel, KEEP_TOMBSTONE};
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
    snprintf(own.channel, sizeof own.channel, "{%s}:released", own.name);
    return (lock){acquire, release, end, NULL, NULL};
}
