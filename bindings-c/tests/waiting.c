#include "waiting.h"

#include <poll.h>

static void *wait_for_it(void *argument) {
    struct waiter *waiter = argument;

    waiter->result = fencepost_acquire(waiter->client, waiter->name, 3 * LONG, &waiter->grant);
    snprintf(waiter->detail, sizeof waiter->detail, "%s", fencepost_detail());
    return NULL;
}

void start_waiting(struct waiter *waiter, fencepost_client *client, const char *name) {
    waiter->client = client;
    waiter->name = name;
    waiter->grant = NULL;
    pthread_create(&waiter->thread, NULL, wait_for_it, waiter);
}

/* Whether a waiter listens for the lock's release on Redis. */
static bool is_listened_for(const char *name) {
    redisReply *reply = redis("PUBSUB NUMSUB {%s}:released", name);
    bool listens = reply->elements == 2 && reply->element[1]->integer > 0;

    freeReplyObject(reply);
    return listens;
}

void start_waiting_behind(
    struct waiter *waiter, enum family family, fencepost_client *holder, fencepost_client *client, const char *name) {
    start_waiting(waiter, client, name);
    if (family == ZOOKEEPER)
        EVENTUALLY(contenders(holder, name, NULL) == 2);
    else
        EVENTUALLY(is_listened_for(name));
}

void gets_it(struct waiter *waiter) {
    pthread_join(waiter->thread, NULL);
    if (!CHECK_RESULT(waiter->result, FENCEPOST_OK))
        printf("    the waiter's thread: %s\n", waiter->detail);
    if (waiter->grant != NULL)
        let_go(waiter->grant);
}

fencepost_grant *hold_shortly(fencepost_client *client, const char *name, int64_t ttl) {
    fencepost_grant *grant = NULL;
    fencepost_lock *lock;

    CHECK_RESULT(fencepost_lock_new(client, name, &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_set_ttl(lock, ttl), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire(lock, LONG, &grant), FENCEPOST_OK);
    fencepost_lock_free(lock);
    return grant;
}
