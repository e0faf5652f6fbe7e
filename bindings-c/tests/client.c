/* The functions of a client, on every kind of server. */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include "support.h"

static void fence_grows(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("fence");
    uint64_t last = 0;
    int i;

    for (i = 0; i < 5; i++) {
        fencepost_grant *grant = hold(client, name);
        NEED(grant != NULL);
        CHECK(fencepost_grant_fence(grant) > last);
        last = fencepost_grant_fence(grant);
        let_go(grant);
    }
    close_client(client);
}

static void one_holds(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("exclusion");
    fencepost_grant *grant = hold(mine, name), *none = NULL;
    int64_t before;

    CHECK_RESULT(fencepost_try_acquire(other, name, &none), FENCEPOST_RESULT_NOT_AVAILABLE);
    before = millis();
    CHECK_RESULT(fencepost_acquire(other, name, BRIEF, &none), FENCEPOST_RESULT_TIMEOUT);
    CHECK(millis() - before >= BRIEF - 5);
    /* A second acquire of the same client is another contender. */
    CHECK_RESULT(fencepost_try_acquire(mine, name, &none), FENCEPOST_RESULT_NOT_AVAILABLE);
    CHECK(none == NULL);
    let_go(grant);
    CHECK_RESULT(fencepost_try_acquire(other, name, &none), FENCEPOST_OK);
    let_go(none);
    close_client(mine);
    close_client(other);
}

static void validity(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    fencepost_grant *grant = hold(client, new_name("validity"));
    int64_t start = millis(), remaining = fencepost_grant_remaining(grant), asked, after;

    CHECK(fencepost_grant_is_valid(grant));
    CHECK(remaining > 0 && remaining <= 60000);
    CHECK(!fencepost_grant_is_lost(grant));
    CHECK_RESULT(fencepost_grant_loss(grant), FENCEPOST_OK);
    poll(NULL, 0, 500);
    asked = millis();
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_OK);
    after = fencepost_grant_remaining(grant);
    /* On ZooKeeper, a confirmation proves an earlier one that is a quarter of the session timeout old. */
    CHECK(after >= remaining - (millis() - (family == REDIS ? asked : start)) - 2);
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_OK);
    CHECK(!fencepost_grant_is_valid(grant) && fencepost_grant_remaining(grant) == 0);
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_RESULT_NOT_HELD);
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_RESULT_NOT_HELD);
    CHECK_RESULT(fencepost_grant_wait_lost(grant, 1), FENCEPOST_RESULT_NOT_HELD);
    fencepost_grant_free(grant);
    close_client(client);
}

static void dropped_grant_is_released(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("dropped");

    fencepost_grant_free(hold(mine, name));
    let_go(hold(other, name));
    close_client(mine);
    close_client(other);
}

struct waiter {
    pthread_t thread;
    fencepost_client *client;
    const char *name;
    fencepost_attempt *attempt;
    fencepost_result result;
    fencepost_grant *grant;
};

static void *wait_for_it(void *argument) {
    struct waiter *waiter = argument;

    if (waiter->attempt != NULL)
        waiter->result = fencepost_attempt_wait(waiter->attempt, &waiter->grant);
    else
        waiter->result = fencepost_acquire(waiter->client, waiter->name, LONG, &waiter->grant);
    return NULL;
}

static void release_wakes_a_waiter(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    struct waiter waiter = {0};
    fencepost_grant *grant;
    uint64_t fence;

    waiter.client = other;
    waiter.name = new_name("hand-over");
    grant = hold(mine, waiter.name);
    fence = fencepost_grant_fence(grant);
    pthread_create(&waiter.thread, NULL, wait_for_it, &waiter);
    poll(NULL, 0, 50);
    let_go(grant);
    pthread_join(waiter.thread, NULL);
    CHECK_RESULT(waiter.result, FENCEPOST_OK);
    CHECK(fencepost_grant_fence(waiter.grant) > fence);
    let_go(waiter.grant);
    close_client(mine);
    close_client(other);
}

/* Many threads share one client, and none loses an increment. */
struct counter {
    fencepost_client *client;
    const char *name;
    int count;
};

static void *increment(void *argument) {
    struct counter *counter = argument;
    fencepost_grant *grant;
    int i, seen;

    for (i = 0; i < 10; i++) {
        if (fencepost_acquire(counter->client, counter->name, LONG, &grant) != FENCEPOST_OK)
            return NULL;
        seen = __atomic_load_n(&counter->count, __ATOMIC_RELAXED);
        sched_yield();
        __atomic_store_n(&counter->count, seen + 1, __ATOMIC_RELAXED);
        fencepost_release(grant);
        fencepost_grant_free(grant);
    }
    return NULL;
}

static void threads_share_a_client(enum family family) {
    struct counter counter = {client_of(url(family, "")), new_name("threads"), 0};
    pthread_t threads[4];
    int i;

    for (i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, increment, &counter);
    for (i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(counter.count == 40);
    close_client(counter.client);
}

static void cancel_from_another_thread(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    struct waiter waiter = {0};
    fencepost_lock *lock;
    fencepost_grant *grant;
    const char *name = new_name("cancel");

    grant = hold(mine, name);
    CHECK_RESULT(fencepost_lock_new(other, name, &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, FENCEPOST_FOREVER, &waiter.attempt), FENCEPOST_OK);
    pthread_create(&waiter.thread, NULL, wait_for_it, &waiter);
    poll(NULL, 0, 30);
    CHECK_RESULT(fencepost_attempt_cancel(waiter.attempt), FENCEPOST_OK);
    pthread_join(waiter.thread, NULL);
    CHECK_RESULT(waiter.result, FENCEPOST_RESULT_CANCELLED);
    CHECK_RESULT(fencepost_attempt_cancel(waiter.attempt), FENCEPOST_RESULT_NOT_WAITING);
    fencepost_attempt_free(waiter.attempt);
    fencepost_lock_free(lock);
    let_go(grant);
    /* The cancelled acquire does not block the next one. */
    let_go(hold(mine, name));
    close_client(mine);
    close_client(other);
}

static void abandoned_attempt_leaves_nothing(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    fencepost_attempt *attempt;
    fencepost_lock *lock;
    const char *name = new_name("abandoned");

    /* The program frees the attempt at once, although it may be granted meanwhile. */
    CHECK_RESULT(fencepost_lock_new(other, name, &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    let_go(hold(mine, name));
    close_client(mine);
    close_client(other);
}

static void steps_without_waiting(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    fencepost_attempt *attempt;
    fencepost_grant *grant = NULL;
    fencepost_lock *lock;
    fencepost_result result;

    CHECK_RESULT(fencepost_lock_new(client, new_name("steps"), &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_try_acquire_start(lock, &attempt), FENCEPOST_OK);
    EVENTUALLY((result = fencepost_attempt_finish(attempt, &grant)) != FENCEPOST_RESULT_PENDING);
    CHECK_RESULT(result, FENCEPOST_OK);
    CHECK_RESULT(fencepost_attempt_finish(attempt, &grant), FENCEPOST_RESULT_NOT_WAITING);
    NEED(grant != NULL);
    CHECK_RESULT(fencepost_release_start(grant), FENCEPOST_OK);
    EVENTUALLY((result = fencepost_release_finish(grant)) != FENCEPOST_RESULT_PENDING);
    CHECK_RESULT(result, FENCEPOST_OK);
    CHECK_RESULT(fencepost_release_finish(grant), FENCEPOST_RESULT_NOT_HELD);
    fencepost_grant_free(grant);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    close_client(client);
}

static void longest_hold(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("max-hold");
    fencepost_grant *grant;
    fencepost_lock *lock;

    CHECK_RESULT(fencepost_lock_new(client, name, &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_set_max_hold(lock, 100), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire(lock, LONG, &grant), FENCEPOST_OK);
    CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_MAX_HOLD);
    CHECK(!fencepost_grant_is_valid(grant) && fencepost_grant_is_lost(grant));
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_RESULT_MAX_HOLD);
    fencepost_grant_free(grant);
    let_go(hold(client, name));
    fencepost_lock_free(lock);
    close_client(client);
}

/* A lock is acquired again after a release. */
static void acquired_again(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    fencepost_grant *first, *second, *none = NULL;
    fencepost_lock *lock;
    uint64_t fence;

    CHECK_RESULT(fencepost_lock_new(client, new_name("again"), &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire(lock, LONG, &first), FENCEPOST_OK);
    fence = fencepost_grant_fence(first);
    CHECK_RESULT(fencepost_release(first), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire(lock, LONG, &second), FENCEPOST_OK);
    CHECK(fencepost_grant_fence(second) > fence);
    /* Calls on the old grant do not affect the new one. */
    CHECK_RESULT(fencepost_release(first), FENCEPOST_RESULT_NOT_HELD);
    CHECK_RESULT(fencepost_extend(first), FENCEPOST_RESULT_NOT_HELD);
    fencepost_grant_free(first);
    CHECK(fencepost_grant_is_valid(second));
    CHECK_RESULT(fencepost_lock_try_acquire(lock, &none), FENCEPOST_RESULT_NOT_AVAILABLE);
    CHECK(none == NULL && fencepost_grant_is_valid(second));
    let_go(second);
    /* Other settings apply to the next acquire. */
    CHECK_RESULT(fencepost_lock_set_max_hold(lock, 100), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire(lock, LONG, &first), FENCEPOST_OK);
    CHECK_RESULT(fencepost_grant_wait_lost(first, LONG), FENCEPOST_RESULT_MAX_HOLD);
    fencepost_grant_free(first);
    let_go(hold(client, new_name("again-by-name")));
    fencepost_lock_free(lock);
    close_client(client);
}

static void closing_releases_everything(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("closing");
    fencepost_grant *grant = hold(mine, name), *none = NULL;
    struct waiter waiter = {0};

    waiter.client = mine;
    waiter.name = name;
    pthread_create(&waiter.thread, NULL, wait_for_it, &waiter);
    poll(NULL, 0, 30);
    CHECK_RESULT(fencepost_close(mine), FENCEPOST_OK);
    pthread_join(waiter.thread, NULL);
    CHECK_RESULT(waiter.result, FENCEPOST_RESULT_CLIENT_CLOSED);
    let_go(hold(other, name));
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    CHECK(!fencepost_grant_is_valid(grant));
    CHECK_RESULT(fencepost_acquire(mine, name, 10, &none), FENCEPOST_RESULT_CLIENT_CLOSED);
    CHECK_RESULT(fencepost_close(mine), FENCEPOST_OK);
    fencepost_client_free(mine);
    fencepost_grant_free(grant); /* also allowed after its client was freed */
    close_client(other);
}

int main(void) {
    int family;

    for (family = 0; family < FAMILIES; family++) {
        if (address((enum family)family) == NULL)
            continue;
#define ON(name) TEST_ON(name, (enum family)family, label((enum family)family))
        ON(fence_grows);
        ON(one_holds);
        ON(validity);
        ON(dropped_grant_is_released);
        ON(release_wakes_a_waiter);
        ON(threads_share_a_client);
        ON(cancel_from_another_thread);
        ON(abandoned_attempt_leaves_nothing);
        ON(steps_without_waiting);
        ON(longest_hold);
        ON(acquired_again);
        ON(closing_releases_everything);
    }
    return check_close();
}
