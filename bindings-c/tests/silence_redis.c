/* Connections of the program that become silent: they are open, but nothing arrives. */
#include <fencepost-redis.h>
#include <poll.h>

#include "loop.h"
#include "support.h"

static void turn(fencepost_client *client, struct loop *own) {
    int timeout = fencepost_client_timeout(client);

    loop_turn(&own, 1, fencepost_client_fd(client), timeout < 0 || timeout > 1000 ? 1000 : timeout);
    CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
}

/* Runs the caller's loop until the attempt is decided. */
static fencepost_result
run(fencepost_client *client, struct loop *own, fencepost_attempt *attempt, fencepost_grant **grant) {
    fencepost_result result;

    while ((result = fencepost_attempt_finish(attempt, grant)) == FENCEPOST_RESULT_PENDING)
        turn(client, own);
    return result;
}

#define SILENT "the connection given to fencepost_redis_attach has not answered for 5 s"

/* The client reports the connection, and leaves it open. When it works again, the client uses it again. */
static void silent_context(void) {
    const char *place, *proxy = proxy_open("redis-1", &place), *name = new_name("silent");
    struct loop own;
    fencepost_client *client;
    fencepost_grant *grant = NULL;

    NEED(proxy != NULL && loop_connect(&own, place));
    loop_detach(&own);
    CHECK_RESULT(fencepost_redis_attach(own.context, NULL, &client), FENCEPOST_OK);
    let_go(hold(client, name));
    CHECK(control("id", "proxy-hold %s", proxy) != NULL);
    CHECK_FAULT(fencepost_try_acquire(client, name, &grant), FENCEPOST_RESULT_UNREACHABLE, SILENT);
    CHECK_FAULT(fencepost_acquire(client, name, 7000, &grant), FENCEPOST_RESULT_UNREACHABLE, SILENT);
    CHECK(control("id", "proxy-pass %s", proxy) != NULL);
    let_go(hold(client, name));
    CHECK(own.disconnects == 0 && own.context->err == 0);
    close_client(client);
    CHECK(own.disconnects == 0);
    redisAsyncFree(own.context);
    control("id", "proxy-close %s", proxy);
}

/* A grant on such a connection is lost when its lease ends, with the same reason. */
static void silent_context_in_a_loop(void) {
    const char *place, *proxy = proxy_open("redis-1", &place);
    struct loop own;
    fencepost_client *client;
    fencepost_grant *grant = NULL, *none = NULL;
    fencepost_attempt *attempt;
    fencepost_lock *lock, *other;

    NEED(proxy != NULL && loop_connect(&own, place));
    CHECK_RESULT(fencepost_redis_attach(own.context, NULL, &client), FENCEPOST_OK);
    lock = lock_with(client, new_name("silent"), NULL);
    other = lock_with(client, new_name("silent"), NULL);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    CHECK_RESULT(run(client, &own, attempt, &grant), FENCEPOST_OK);
    fencepost_attempt_free(attempt);
    CHECK(control("id", "proxy-hold %s", proxy) != NULL);
    CHECK_RESULT(fencepost_lock_acquire_start(other, 7000, &attempt), FENCEPOST_OK);
    CHECK_FAULT(run(client, &own, attempt, &none), FENCEPOST_RESULT_UNREACHABLE, SILENT);
    fencepost_attempt_free(attempt);
    while (!fencepost_grant_is_lost(grant))
        turn(client, &own);
    CHECK_FAULT(fencepost_grant_loss(grant), FENCEPOST_RESULT_LEASE_ENDED, SILENT);
    CHECK(control("id", "proxy-pass %s", proxy) != NULL);
    CHECK_RESULT(fencepost_lock_acquire_start(other, LONG, &attempt), FENCEPOST_OK);
    CHECK_RESULT(run(client, &own, attempt, &none), FENCEPOST_OK);
    CHECK_RESULT(fencepost_release_start(none), FENCEPOST_OK);
    while (fencepost_release_finish(none) == FENCEPOST_RESULT_PENDING)
        turn(client, &own);
    CHECK(own.disconnects == 0 && own.context->err == 0);
    fencepost_grant_free(grant);
    fencepost_grant_free(none);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    fencepost_lock_free(other);
    CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
    fencepost_client_free(client);
    CHECK(own.disconnects == 0);
    redisAsyncFree(own.context);
    control("id", "proxy-close %s", proxy);
}

int main(void) {
    if (address(REDIS) != NULL) {
        TEST(silent_context);
        TEST(silent_context_in_a_loop);
    }
    return check_close();
}
