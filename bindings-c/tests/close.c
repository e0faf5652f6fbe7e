/* A close reports the locks that it could not release, also step by step in an event loop. */
#include <fencepost-redis.h>
#include <poll.h>
#include <pthread.h>

#include "loop.h"
#include "support.h"

/* The limit for "at most five seconds" on a busy machine (ms). */
#define AT_MOST 5900

static void refused_release_is_told(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    const char *name = new_name("refused");
    fencepost_grant *grant;
    redisReply *reply;

    grant = hold(client, name);
    freeReplyObject(redis("ACL SETUSER default -eval -evalsha"));
    CHECK_FAULT(fencepost_close(client), FENCEPOST_RESULT_CLEANUP_INCOMPLETE, "1 lock");
    /* Only the first close reports it. */
    CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_close_start(client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_close_finish(client), FENCEPOST_OK);
    freeReplyObject(redis("ACL SETUSER default +@all"));
    reply = redis("EXISTS %s", name);
    CHECK(reply->integer == 1);
    freeReplyObject(reply);
    fencepost_grant_free(grant);
    fencepost_client_free(client);
}

static void owners_connection_went_first(void) {
    struct loop commands, *loops[1] = {&commands};
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;
    fencepost_client *client;
    fencepost_lock *lock;
    int descriptor;

    NEED(loop_connect(&commands, address(REDIS)));
    CHECK_RESULT(fencepost_redis_attach(commands.context, NULL, &client), FENCEPOST_OK);
    descriptor = fencepost_client_fd(client);
    lock = lock_with(client, new_name("first"), NULL);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    while (fencepost_attempt_finish(attempt, &grant) == FENCEPOST_RESULT_PENDING) {
        loop_turn(loops, 1, descriptor, 50);
        CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
    }
    NEED(grant != NULL);
    redisAsyncFree(commands.context);
    CHECK_FAULT(fencepost_close(client), FENCEPOST_RESULT_CLEANUP_INCOMPLETE, "1 lock");
    fencepost_attempt_free(attempt);
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    fencepost_client_free(client);
}

/* ---- held grants are lost ---- */

struct watcher {
    pthread_t thread;
    fencepost_grant *grant;
    bool waits; /* the call is about to begin */
    fencepost_result result;
};

static void *watch(void *argument) {
    struct watcher *watcher = argument;

    __atomic_store_n(&watcher->waits, true, __ATOMIC_RELEASE);
    watcher->result = fencepost_grant_wait_lost(watcher->grant, LONG);
    return NULL;
}

static void start_watching(struct watcher *watcher, fencepost_grant *grant) {
    *watcher = (struct watcher){.grant = grant};
    pthread_create(&watcher->thread, NULL, watch, watcher);
    EVENTUALLY(__atomic_load_n(&watcher->waits, __ATOMIC_ACQUIRE));
}

static void check_lost_by_close(fencepost_grant *grant) {
    CHECK(!fencepost_grant_is_valid(grant) && fencepost_grant_is_lost(grant));
    CHECK_FAULT(fencepost_grant_loss(grant), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED, "client was closed");
    CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    CHECK_RESULT(fencepost_release_start(grant), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    CHECK_RESULT(fencepost_release_finish(grant), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    CHECK_RESULT(fencepost_extend_start(grant), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    CHECK_RESULT(fencepost_extend_finish(grant), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    CHECK_RESULT(fencepost_downgrade(grant), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    CHECK_RESULT(fencepost_downgrade_start(grant), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    CHECK_RESULT(fencepost_downgrade_finish(grant), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    CHECK_RESULT(fencepost_grant_wait_revoke_requested(grant, LONG), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
}

/* Closes in one call, or step by step. A thread that waits for the loss is notified; a released grant is not lost. */
static void held_grants_are_lost(enum family family) {
    int step_by_step;

    for (step_by_step = 0; step_by_step < 2; step_by_step++) {
        const fencepost_options *owned = FENCEPOST_OPTIONS(.owner = "me");
        fencepost_client *client = client_of(url(family, ""));
        const char *name = new_name("owned");
        fencepost_grant *held = hold(client, new_name("held")), *released = hold(client, new_name("released"));
        fencepost_grant *twice[2] = {hold_with(client, name, owned), hold_with(client, name, owned)};
        struct watcher watcher;

        CHECK_RESULT(fencepost_release(released), FENCEPOST_OK);
        start_watching(&watcher, held);
        if (step_by_step) {
            CHECK_RESULT(fencepost_close_start(client), FENCEPOST_OK);
            check_lost_by_close(held);
            CHECK_RESULT(fencepost_grant_loss(released), FENCEPOST_RESULT_CLIENT_CLOSED);
            EVENTUALLY(fencepost_close_finish(client) == FENCEPOST_OK);
        } else {
            CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
        }
        pthread_join(watcher.thread, NULL);
        CHECK_RESULT(watcher.result, FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
        check_lost_by_close(held);
        check_lost_by_close(twice[0]);
        check_lost_by_close(twice[1]);
        CHECK(!fencepost_grant_is_lost(released));
        CHECK_RESULT(fencepost_grant_loss(released), FENCEPOST_RESULT_CLIENT_CLOSED);
        CHECK_RESULT(fencepost_release(released), FENCEPOST_RESULT_CLIENT_CLOSED);
        fencepost_grant_free(held);
        fencepost_grant_free(released);
        fencepost_grant_free(twice[0]);
        fencepost_grant_free(twice[1]);
        fencepost_client_free(client);
    }
}

/* ---- in an event loop ---- */

static void turn(fencepost_client *client) {
    struct pollfd source = {fencepost_client_fd(client), POLLIN, 0};
    int timeout = fencepost_client_timeout(client);

    poll(&source, 1, timeout < 0 || timeout > 100 ? 100 : timeout);
    fencepost_client_process(client);
}

static fencepost_grant *hold_in_loop(fencepost_client *client, fencepost_lock *lock) {
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;
    int64_t end = millis() + LONG;

    CHECK(fencepost_client_fd(client) >= 0);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    while (fencepost_attempt_finish(attempt, &grant) == FENCEPOST_RESULT_PENDING && millis() < end)
        turn(client);
    fencepost_attempt_free(attempt);
    return grant;
}

/* Runs turns of the loop until the close has ended. */
static fencepost_result finished(fencepost_client *client) {
    struct pollfd source = {fencepost_client_fd(client), POLLIN, 0};
    fencepost_result result;
    int timeout;

    while ((result = fencepost_close_finish(client)) == FENCEPOST_RESULT_PENDING) {
        timeout = fencepost_client_timeout(client);
        CHECK(timeout >= 0); /* the close has a time limit */
        poll(&source, 1, timeout < 100 ? timeout : 100);
        CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
    }
    return result;
}

static void closes_step_by_step(enum family family) {
    fencepost_client *client = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("steps");
    fencepost_lock *lock = lock_with(client, name, NULL);
    fencepost_grant *grant = hold_in_loop(client, lock);

    NEED(grant != NULL);
    CHECK_RESULT(fencepost_close_finish(client), FENCEPOST_RESULT_CLIENT_CLOSED);
    CHECK_RESULT(fencepost_close_start(client), FENCEPOST_OK);
    check_lost_by_close(grant);
    CHECK_RESULT(fencepost_close_start(client), FENCEPOST_OK);
    CHECK_RESULT(finished(client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_close_finish(client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_close_start(client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
    let_go(hold(other, name));
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    fencepost_client_free(client);
    close_client(other);
}

/* A close that begins step by step, and ends in a blocking call. */
static void close_goes_on_with_it(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    fencepost_lock *lock = lock_with(client, new_name("steps"), NULL);
    fencepost_grant *grant = hold_in_loop(client, lock);

    CHECK_RESULT(fencepost_close_start(client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    fencepost_client_free(client);
}

static void silent_server_is_not_waited_for_long(enum family family) {
    const char *const servers[] = {"", "zookeeper", "redis-1"}, *const schemes[] = {"", "zk://", "redis://"};
    const char *at = NULL, *proxy = proxy_open(servers[family], &at);
    fencepost_client *blocking, *looping;
    fencepost_grant *first, *second;
    fencepost_lock *lock;
    int64_t start;

    NEED(proxy != NULL);
    blocking = client_of(url_of(schemes[family], at, ""));
    looping = client_of(url_of(schemes[family], at, ""));
    lock = lock_with(looping, new_name("silent"), NULL);
    first = hold(blocking, new_name("silent"));
    second = hold_in_loop(looping, lock);
    control("ok", "proxy-hold %s", proxy);
    start = millis();
    CHECK_RESULT(fencepost_close(blocking), FENCEPOST_RESULT_CLEANUP_INCOMPLETE);
    CHECK(millis() - start < AT_MOST);
    start = millis();
    CHECK_RESULT(fencepost_close_start(looping), FENCEPOST_OK);
    CHECK_RESULT(finished(looping), FENCEPOST_RESULT_CLEANUP_INCOMPLETE);
    CHECK(millis() - start < AT_MOST);
    fencepost_grant_free(first);
    fencepost_grant_free(second);
    fencepost_lock_free(lock);
    fencepost_client_free(blocking);
    fencepost_client_free(looping);
    control("ok", "proxy-close %s", proxy);
}

/* A close does not wait for, or report, an acquire that was never sent: with a server that does not exist, and with one
 * that accepts the connection and never replies, with and without a password. */
static void nothing_was_sent(enum family family) {
    const char *const servers[] = {"", "zookeeper", "redis-1"}, *const schemes[] = {"", "zk://", "redis://"};
    const char *at = NULL, *proxy = proxy_open(servers[family], &at);
    fencepost_attempt *attempt = NULL;
    fencepost_client *client;
    fencepost_lock *lock;
    char id[32], place[64]; /* copies, because the buffers of the texts are reused */
    int held, with_password;

    NEED(proxy != NULL);
    snprintf(id, sizeof id, "%s", proxy);
    snprintf(place, sizeof place, "%s", at);
    for (held = 0; held < 2; held++) {
        for (with_password = 0; with_password < (family == REDIS ? 2 : 1); with_password++) {
            control("ok", held ? "proxy-hold %s" : "proxy-cut %s", id);
            client = client_of(url_of(with_password ? "redis://:pw@" : schemes[family], place, ""));
            lock = lock_with(client, new_name("unsent"), NULL);
            CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
            CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
            fencepost_attempt_free(attempt);
            fencepost_lock_free(lock);
            fencepost_client_free(client);
            control("ok", "proxy-heal %s", id);
        }
    }
    control("ok", "proxy-close %s", id);
}

int main(void) {
    enum family family;

    if (address(REDIS) != NULL) {
        TEST(refused_release_is_told);
        TEST(owners_connection_went_first);
    }
    for (family = MEMORY; family < FAMILIES; family++) {
        if (address(family) == NULL)
            continue;
        TEST_ON(held_grants_are_lost, family, label(family));
        TEST_ON(closes_step_by_step, family, label(family));
        TEST_ON(close_goes_on_with_it, family, label(family));
        if (family == MEMORY)
            continue;
        TEST_ON(silent_server_is_not_waited_for_long, family, label(family));
        TEST_ON(nothing_was_sent, family, label(family));
    }
    return check_close();
}
