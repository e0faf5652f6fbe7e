#include "rd_shared.h"

#include <pthread.h>
#include <stdlib.h>

/* A thread that waits for its reply: replies come in the order of the requests. */
typedef struct waiter {
    redisReply *reply;
    pthread_cond_t answered;
    struct waiter *next;
} waiter;

struct rd_shared {
    redisContext *c;
    pthread_mutex_t mutex;
    waiter *first, **end;
    int reading;
};

rd_shared *rd_share(redisContext *c) {
    rd_shared *s = calloc(1, sizeof *s);
    if (!s)
        fail("rd_share", "out of memory");
    s->c = c;
    s->end = &s->first;
    pthread_mutex_init(&s->mutex, NULL);
    return s;
}

/* Passes the replies that were read to the threads that wait for them. */
static void distribute(rd_shared *s) {
    void *reply = NULL;
    while (s->first && redisGetReplyFromReader(s->c, &reply) == REDIS_OK && reply) {
        waiter *w = s->first;
        s->first = w->next;
        if (!s->first)
            s->end = &s->first;
        w->reply = reply;
        pthread_cond_signal(&w->answered);
    }
    if (s->c->err)
        fail("reply", s->c->errstr);
}

redisReply *rd_shared_call(rd_shared *s, int count, const char **arguments) {
    waiter own = {.next = NULL};
    int sent = 0;
    pthread_cond_init(&own.answered, NULL);
    pthread_mutex_lock(&s->mutex);
    redisAppendCommandArgv(s->c, count, arguments, NULL);
    *s->end = &own;
    s->end = &own.next;
    while (!sent) {
        if (redisBufferWrite(s->c, &sent) != REDIS_OK)
            fail(arguments[0], s->c->errstr);
    }
    while (!own.reply) {
        if (s->reading) {
            pthread_cond_wait(&own.answered, &s->mutex);
            continue;
        }
        /* One thread reads for all. Reading and writing use different parts of the context, so others can write
         * meanwhile. */
        s->reading = 1;
        pthread_mutex_unlock(&s->mutex);
        int read = redisBufferRead(s->c);
        pthread_mutex_lock(&s->mutex);
        s->reading = 0;
        if (read != REDIS_OK)
            fail("reply", s->c->errstr);
        distribute(s);
    }
    /* The thread that waits for the earliest reply continues to read. */
    if (s->first && !s->reading)
        pthread_cond_signal(&s->first->answered);
    pthread_mutex_unlock(&s->mutex);
    pthread_cond_destroy(&own.answered);
    if (own.reply->type == REDIS_REPLY_ERROR)
        fail(arguments[0], own.reply->str);
    return own.reply;
}
