/* An event loop turns only when there is something to do, and not because the program calls getters. */
#include <fencepost-redis.h>
#include <poll.h>

#include "loop.h"
#include "support.h"

/* How long the test watches a loop (ms), and the maximum number of turns: for renewals, pings, and polls of a waiter.
 */
#define WATCHED 3000
#define MOST_TURNS 100

/* One turn, as the header describes it. */
static void turn(fencepost_client *client, int descriptor) {
    struct pollfd source = {descriptor, POLLIN, 0};
    int timeout = fencepost_client_timeout(client);

    poll(&source, 1, timeout < 0 || timeout > 500 ? 500 : timeout);
    CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
}

static fencepost_grant *
granted(fencepost_client *client, int descriptor, fencepost_attempt *attempt, int64_t acquire_timeout) {
    fencepost_grant *grant = NULL;
    int64_t end = millis() + acquire_timeout;

    while (fencepost_attempt_finish(attempt, &grant) == FENCEPOST_RESULT_PENDING && millis() < end)
        turn(client, descriptor);
    return grant;
}

static void asking_turns_no_loop(enum family family) {
    fencepost_client *other = client_of(url(family, "")), *client = client_of(url(family, ""));
    const char *name = new_name("turning");
    fencepost_lock *lock = lock_with(client, name, NULL);
    fencepost_grant *held = hold(other, name), *grant = NULL;
    fencepost_attempt *attempt = NULL;
    int descriptor = fencepost_client_fd(client), turns;
    int64_t end;

    /* The program waits, and calls finish in each turn. */
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    for (turns = 0, end = millis() + WATCHED; millis() < end && turns <= MOST_TURNS; turns++) {
        turn(client, descriptor);
        CHECK_RESULT(fencepost_attempt_finish(attempt, &grant), FENCEPOST_RESULT_PENDING);
    }
    CHECK(turns <= MOST_TURNS);
    let_go(held);
    grant = granted(client, descriptor, attempt, LONG);
    NEED(grant != NULL);
    fencepost_attempt_free(attempt);
    /* The program holds, and calls getters in each turn. */
    for (turns = 0, end = millis() + WATCHED; millis() < end && turns <= MOST_TURNS; turns++) {
        turn(client, descriptor);
        CHECK(!fencepost_grant_is_lost(grant));
        CHECK(!fencepost_grant_revoke_requested(grant));
    }
    CHECK(turns <= MOST_TURNS);
    CHECK_RESULT(fencepost_release_start(grant), FENCEPOST_OK);
    for (end = millis() + LONG; fencepost_release_finish(grant) == FENCEPOST_RESULT_PENDING && millis() < end;)
        turn(client, descriptor);
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    close_client(other);
    close_client(client);
}

/* The same in the loop of the program's connections. */
static void asking_turns_no_callers_loop(void) {
    struct loop commands, subscriptions, *loops[2] = {&commands, &subscriptions};
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;
    fencepost_client *client;
    fencepost_lock *lock;
    int descriptor, turns;
    int64_t end;

    NEED(loop_connect(&commands, address(REDIS)) && loop_connect(&subscriptions, address(REDIS)));
    CHECK_RESULT(fencepost_redis_attach(commands.context, subscriptions.context, &client), FENCEPOST_OK);
    descriptor = fencepost_client_fd(client);
    lock = lock_with(client, new_name("turning"), NULL);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    for (end = millis() + LONG;
         fencepost_attempt_finish(attempt, &grant) == FENCEPOST_RESULT_PENDING && millis() < end;) {
        loop_turn(loops, 2, descriptor, 100);
        CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
    }
    NEED(grant != NULL);
    for (turns = 0, end = millis() + WATCHED; millis() < end && turns <= MOST_TURNS; turns++) {
        int timeout = fencepost_client_timeout(client);
        loop_turn(loops, 2, descriptor, timeout < 0 || timeout > 500 ? 500 : timeout);
        CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
        CHECK(!fencepost_grant_is_lost(grant));
    }
    CHECK(turns <= MOST_TURNS);
    fencepost_attempt_free(attempt);
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    fencepost_client_free(client);
    redisAsyncFree(commands.context);
    redisAsyncFree(subscriptions.context);
}

int main(void) {
    enum family family;

    for (family = MEMORY; family < FAMILIES; family++) {
        if (address(family) != NULL)
            TEST_ON(asking_turns_no_loop, family, label(family));
    }
    if (address(REDIS) != NULL)
        TEST(asking_turns_no_callers_loop);
    return check_close();
}
