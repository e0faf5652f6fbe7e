/* A key that exists while it is held, and a channel. A waiter subscribes, and its acquire returns when the message
 * arrives; the waiter sets the key only after it has noted that time. */
#include <stdio.h>
#include <string.h>

#include "raw.h"
#include "rd.h"

static struct {
    redisContext *commands, *messages;
    char key[128], channel[160];
    int64_t moment;
} own;

static void take(void) {
    const char *arguments[] = {"SET", own.key, "1"};
    freeReplyObject(rd_call(own.commands, 3, arguments));
}

static redisReply *receive(void) {
    void *reply = NULL;
    if (redisGetReply(own.messages, &reply) != REDIS_OK)
        fail("message", own.messages->errstr);
    return reply;
}

/* Reads and discards the messages of releases that no acquire waited for. */
static void forget(void) {
    const char *ping[] = {"PING"};
    int last = 0;
    redisAppendCommandArgv(own.messages, 1, ping, NULL);
    while (!last) {
        redisReply *reply = receive();
        last = reply->type == REDIS_REPLY_ARRAY && strcmp(reply->element[0]->str, "pong") == 0;
        freeReplyObject(reply);
    }
}

static void acquire(void *self) {
    (void)self;
    forget();
    const char *exists[] = {"EXISTS", own.key};
    redisReply *held = rd_call(own.commands, 2, exists);
    if (held->integer == 1)
        freeReplyObject(receive());
    own.moment = clock_ns();
    freeReplyObject(held);
    take();
}

static void release(void *self) {
    (void)self;
    const char *del[] = {"DEL", own.key}, *publish[] = {"PUBLISH", own.channel, "1"};
    freeReplyObject(rd_call(own.commands, 2, del));
    own.moment = clock_ns();
    freeReplyObject(rd_call(own.commands, 3, publish));
}

static int64_t moment(void *self) {
    (void)self;
    return own.moment;
}

static void end(void *self) {
    (void)self;
    redisFree(own.commands);
    redisFree(own.messages);
}

lock floor_redis(const address *at, const char *name) {
    own.commands = rd_open(at);
    own.messages = rd_open(at);
    snprintf(own.key, sizeof own.key, "%s", name);
    snprintf(own.channel, sizeof own.channel, "{%s}:released", own.key);
    const char *subscribe[] = {"SUBSCRIBE", own.channel};
    freeReplyObject(rd_call(own.messages, 2, subscribe));
    return (lock){acquire, release, end, moment, NULL};
}
