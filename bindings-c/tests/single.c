/* Locks that are one node, without a queue. */
#include <poll.h>
#include <signal.h>

#include "support.h"

#define SINGLE FENCEPOST_OPTIONS(.unfair = true)

static void excludes_and_is_waited_for(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("single");
    fencepost_grant *grant = hold_with(mine, name, SINGLE), *none = NULL, *again;
    fencepost_attempt *attempts[3];
    fencepost_lock *lock;
    uint64_t fence = fencepost_grant_fence(grant);
    int i, left;

    CHECK(fence > 0 && fencepost_grant_is_valid(grant));
    CHECK_RESULT(fencepost_try_acquire_with(other, name, SINGLE, &none), FENCEPOST_RESULT_NOT_AVAILABLE);
    CHECK_RESULT(fencepost_try_acquire_with(mine, name, SINGLE, &none), FENCEPOST_RESULT_NOT_AVAILABLE);
    CHECK_RESULT(fencepost_acquire_with(other, name, SINGLE, BRIEF, &none), FENCEPOST_RESULT_TIMEOUT);
    CHECK_RESULT(fencepost_lock_open(other, name, SINGLE, &lock), FENCEPOST_OK);
    for (i = 0; i < 3; i++)
        CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempts[i]), FENCEPOST_OK);
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_OK);
    let_go(grant);
    /* All of them get the lock, one at a time, in any order. */
    for (left = 3; left > 0; left--) {
        int64_t end = millis() + LONG;
        grant = NULL;
        for (i = 0; grant == NULL && millis() < end; i = (i + 1) % 3) {
            if (attempts[i] != NULL && fencepost_attempt_finish(attempts[i], &grant) == FENCEPOST_OK) {
                fencepost_attempt_free(attempts[i]);
                attempts[i] = NULL;
            }
            poll(NULL, 0, 1);
        }
        NEED(grant != NULL);
        CHECK(fencepost_grant_fence(grant) > fence);
        fence = fencepost_grant_fence(grant);
        CHECK_RESULT(fencepost_try_acquire_with(mine, name, SINGLE, &none), FENCEPOST_RESULT_NOT_AVAILABLE);
        let_go(grant);
    }
    fencepost_lock_free(lock);
    /* Also with an owner. */
    grant = hold_with(mine, name, FENCEPOST_OPTIONS(.unfair = true, .owner = "x"));
    again = hold_with(mine, name, FENCEPOST_OPTIONS(.unfair = true, .owner = "x"));
    CHECK(fencepost_grant_fence(again) == fencepost_grant_fence(grant));
    let_go(grant);
    CHECK_RESULT(fencepost_try_acquire_with(other, name, SINGLE, &none), FENCEPOST_RESULT_NOT_AVAILABLE);
    let_go(again);
    let_go(hold_with(other, name, SINGLE));
    close_client(mine);
    close_client(other);
}

static void is_looked_at_and_broken(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("looked-at");
    fencepost_contenders *list = NULL;
    const fencepost_contender *holder;
    fencepost_grant *grant, *next = NULL;
    fencepost_attempt *attempt;
    fencepost_lock *lock;
    char path[1024];

    CHECK_RESULT(
        fencepost_lock_open(other, name, FENCEPOST_OPTIONS(.unfair = true, .identifier = "till 7"), &lock),
        FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_contenders(lock, &list), FENCEPOST_OK);
    CHECK(fencepost_contenders_count(list) == 0);
    fencepost_contenders_free(list);
    grant = hold_with(mine, name, FENCEPOST_OPTIONS(.unfair = true, .identifier = "till 8"));
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_contenders(lock, &list), FENCEPOST_OK);
    NEED(fencepost_contenders_count(list) == 1);
    holder = fencepost_contenders_at(list, 0);
    /* The node has the name of the lock. */
    snprintf(path, sizeof path, "/%s", name);
    CHECK(strcmp(holder->node, path) == 0 && strstr(holder->identifier, "till 8") != NULL);
    CHECK(holder->holds && !holder->shared && holder->fence == fencepost_grant_fence(grant));
    CHECK_RESULT(fencepost_lock_break(lock, holder), FENCEPOST_OK);
    CHECK_RESULT(fencepost_attempt_wait(attempt, &next), FENCEPOST_OK);
    /* The holder detects the break at the next confirmation of the session, at the latest. */
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_RESULT_DELETED);
    CHECK_RESULT(fencepost_lock_break(lock, holder), FENCEPOST_RESULT_NO_CONTENDER);
    CHECK(fencepost_grant_is_valid(next));
    fencepost_contenders_free(list);
    fencepost_attempt_free(attempt);
    fencepost_grant_free(grant);
    let_go(next);
    fencepost_lock_free(lock);
    close_client(mine);
    close_client(other);
}

/* Another process holds the lock, and is killed: its session ends, and the waiter gets the lock. */
static void a_killed_holder(void) {
    const char *short_url = url(ZOOKEEPER, "?session_timeout=3000"), *name = new_name("killed");
    fencepost_client *client = client_of(url(ZOOKEEPER, ""));
    struct process holder;
    fencepost_grant *none = NULL;

    NEED(process_start(&holder, "single", short_url, name));
    CHECK_RESULT(fencepost_try_acquire_with(client, name, SINGLE, &none), FENCEPOST_RESULT_NOT_AVAILABLE);
    process_kill(&holder, SIGKILL);
    let_go(hold_with(client, name, SINGLE));
    close_client(client);
}

static void an_expired_holder(void) {
    const char *name = new_name("expired"), *at = NULL, *proxy = proxy_open("zookeeper", &at);
    fencepost_client *mine = client_of(url_of("zk://", at, "?session_timeout=3000"));
    fencepost_client *other = client_of(url(ZOOKEEPER, ""));
    fencepost_grant *grant = hold_with(mine, name, SINGLE), *next;
    uint64_t fence = fencepost_grant_fence(grant);

    control("id", "proxy-cut %s", proxy);
    CHECK(fencepost_grant_wait_lost(grant, LONG) >= FENCEPOST_RESULT_LEASE_ENDED);
    next = hold_with(other, name, SINGLE);
    CHECK(fencepost_grant_fence(next) > fence);
    control("id", "proxy-heal %s", proxy);
    let_go(next);
    fencepost_grant_free(grant);
    fencepost_client_free(mine);
    close_client(other);
    control("id", "proxy-close %s", proxy);
}

static void options(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    fencepost_lock *lock = NULL;

    if (family == REDIS) {
        CHECK_FAULT(
            fencepost_lock_open(client, "x", SINGLE, &lock), FENCEPOST_RESULT_UNKNOWN_OPTION, "it is for ZooKeeper");
    } else {
        CHECK_RESULT(
            fencepost_lock_open(client, "x", FENCEPOST_OPTIONS(.unfair = true, .layout = "kazoo"), &lock),
            FENCEPOST_RESULT_UNKNOWN_OPTION);
        CHECK_FAULT(
            fencepost_lock_open(client, "x", FENCEPOST_OPTIONS(.unfair = true, .revocable = true), &lock),
            FENCEPOST_RESULT_UNKNOWN_OPTION, "revocable");
        CHECK_FAULT(
            fencepost_lock_open(client, "x", FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER, .unfair = true), &lock),
            FENCEPOST_RESULT_UNKNOWN_OPTION, "a reader on");
    }
    close_client(client);
}

int main(void) {
    enum family family;

    for (family = 0; family < FAMILIES; family++) {
        TEST_ON(options, family, label(family));
        if (family == REDIS)
            continue;
        TEST_ON(excludes_and_is_waited_for, family, label(family));
        TEST_ON(is_looked_at_and_broken, family, label(family));
    }
    TEST(a_killed_holder);
    TEST(an_expired_holder);
    return check_close();
}
