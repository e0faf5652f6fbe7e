/* The end of a client says what it leaves behind, also step by step in an event loop. */
#include <fencepost-redis.h>
#include <poll.h>

#include "loop.h"
#include "support.h"

/* What "at most five seconds" may be on a busy machine (ms). */
#define AT_MOST 5900

static void refused_release_is_told(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    const char *name = new_name("refused");
    fencepost_grant *grant;
    redisReply *reply;

    grant = hold(client, name);
    freeReplyObject(redis("ACL SETUSER default -eval -evalsha"));
    CHECK_FAULT(fencepost_close(client), FENCEPOST_RESULT_CLEANUP_INCOMPLETE, "1 lock");
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

/* Turns until the close is over; -1 if no turn was needed. */
static fencepost_result finished(fencepost_client *client) {
    struct pollfd source = {fencepost_client_fd(client), POLLIN, 0};
    fencepost_result result;
    int timeout;

    while ((result = fencepost_close_finish(client)) == FENCEPOST_RESULT_PENDING) {
        timeout = fencepost_client_timeout(client);
        CHECK(timeout >= 0); /* it ends by itself */
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
    CHECK(!fencepost_grant_is_valid(grant));
    CHECK_RESULT(fencepost_close_start(client), FENCEPOST_RESULT_CLIENT_CLOSED);
    CHECK_RESULT(fencepost_release_start(grant), FENCEPOST_RESULT_CLIENT_CLOSED);
    CHECK_RESULT(finished(client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_close_finish(client), FENCEPOST_RESULT_CLIENT_CLOSED);
    CHECK_RESULT(fencepost_close(client), FENCEPOST_RESULT_CLIENT_CLOSED);
    let_go(hold(other, name));
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    fencepost_client_free(client);
    close_client(other);
}

/* Begun step by step, ended by a call that waits. */
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

/* What was never sent need not be cleaned up, nor waited for. */
static void nothing_was_sent(enum family family) {
    const char *const servers[] = {"", "zookeeper", "redis-1"}, *const schemes[] = {"", "zk://", "redis://"};
    const char *at = NULL, *proxy = proxy_open(servers[family], &at);
    fencepost_attempt *attempt = NULL;
    fencepost_client *client;
    fencepost_lock *lock;
    int held;

    NEED(proxy != NULL);
    /* A server that is not there; and one that takes the connection and says nothing. */
    for (held = 0; held < 2; held++) {
        control("ok", held ? "proxy-hold %s" : "proxy-cut %s", proxy);
        client = client_of(url_of(schemes[family], at, ""));
        lock = lock_with(client, new_name("unsent"), NULL);
        CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
        if (!held || family == ZOOKEEPER)
            CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
        else
            fencepost_close(client);
        fencepost_attempt_free(attempt);
        fencepost_lock_free(lock);
        fencepost_client_free(client);
        control("ok", "proxy-heal %s", proxy);
    }
    control("ok", "proxy-close %s", proxy);
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
        TEST_ON(closes_step_by_step, family, label(family));
        TEST_ON(close_goes_on_with_it, family, label(family));
        if (family == MEMORY)
            continue;
        TEST_ON(silent_server_is_not_waited_for_long, family, label(family));
        TEST_ON(nothing_was_sent, family, label(family));
    }
    return check_close();
}
