/* Timers that are late because the program was busy: the client first handles the replies that have arrived meanwhile.
 */
#include <fencepost-redis.h>
#include <poll.h>

#include "loop.h"
#include "support.h"

/* The acquire timeout, and the time that the program works meanwhile (ms). */
#define LIMIT 200
#define WORK 300
#define ROUNDS 10

/* Longer than the client waits for a release (ms). */
#define LONG_WORK 5200

/* Other work of the program: for at least so long, and until the server's first reply has arrived. */
static void work(int descriptor, int least) {
    struct pollfd source = {descriptor, POLLIN, 0};
    int64_t end = millis() + least;

    CHECK(poll(&source, 1, LONG) == 1);
    while (millis() < end)
        poll(NULL, 0, (int)(end - millis()));
}

static void turn(fencepost_client *client, int descriptor) {
    struct pollfd source = {descriptor, POLLIN, 0};
    int timeout = fencepost_client_timeout(client);

    poll(&source, 1, timeout < 0 || timeout > 100 ? 100 : timeout);
    CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
}

static fencepost_result
decided(fencepost_client *client, int descriptor, fencepost_attempt *attempt, fencepost_grant **grant) {
    int64_t end = millis() + LONG;
    fencepost_result result;

    while ((result = fencepost_attempt_finish(attempt, grant)) == FENCEPOST_RESULT_PENDING && millis() < end)
        turn(client, descriptor);
    return result;
}

static fencepost_result given_back(fencepost_client *client, int descriptor, fencepost_grant *grant) {
    int64_t end = millis() + LONG;
    fencepost_result result;

    while ((result = fencepost_release_finish(grant)) == FENCEPOST_RESULT_PENDING && millis() < end)
        turn(client, descriptor);
    return result;
}

/* A free lock, an acquire timeout of 200 ms, and 300 ms of work. */
static void free_lock_is_granted_to_a_busy_loop(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    int descriptor = fencepost_client_fd(client), round;
    fencepost_lock *lock = lock_with(client, new_name("late"), NULL);
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant;

    for (round = 0; round <= ROUNDS; round++) {
        grant = NULL;
        /* The first acquire also connects. */
        CHECK_RESULT(fencepost_lock_acquire_start(lock, round == 0 ? LONG : LIMIT, &attempt), FENCEPOST_OK);
        if (round > 0)
            work(descriptor, WORK);
        if (CHECK_RESULT(decided(client, descriptor, attempt, &grant), FENCEPOST_OK)) {
            CHECK_RESULT(fencepost_release_start(grant), FENCEPOST_OK);
            CHECK_RESULT(given_back(client, descriptor, grant), FENCEPOST_OK);
        }
        fencepost_attempt_free(attempt);
        fencepost_grant_free(grant);
    }
    fencepost_lock_free(lock);
    close_client(client);
}

/* A release, and more than five seconds of work. */
static void release_is_confirmed_to_a_busy_loop(enum family family) {
    const char *option = family == ZOOKEEPER ? "?session_timeout=40000" : "";
    fencepost_client *client = client_of(url(family, option));
    int descriptor = fencepost_client_fd(client);
    fencepost_lock *lock = lock_with(client, new_name("late"), NULL);
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;

    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    CHECK_RESULT(decided(client, descriptor, attempt, &grant), FENCEPOST_OK);
    CHECK_RESULT(fencepost_release_start(grant), FENCEPOST_OK);
    work(descriptor, LONG_WORK);
    CHECK_RESULT(given_back(client, descriptor, grant), FENCEPOST_OK);
    fencepost_attempt_free(attempt);
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    close_client(client);
}

/* A connection of the program. Its loop reads the replies after the client's turn. */
static void callers_loop_was_busy(void) {
    struct loop commands, *loops[1] = {&commands};
    fencepost_attempt *attempt = NULL;
    fencepost_client *client;
    fencepost_result result;
    fencepost_grant *grant;
    fencepost_lock *lock;
    int descriptor, round;
    int64_t end;

    NEED(loop_connect(&commands, address(REDIS)));
    CHECK_RESULT(fencepost_redis_attach(commands.context, NULL, &client), FENCEPOST_OK);
    descriptor = fencepost_client_fd(client);
    lock = lock_with(client, new_name("late"), NULL);
    for (round = 0; round < ROUNDS; round++) {
        grant = NULL;
        CHECK_RESULT(fencepost_lock_acquire_start(lock, LIMIT, &attempt), FENCEPOST_OK);
        redisAsyncHandleWrite(commands.context);
        work(commands.context->c.fd, WORK);
        end = millis() + LONG;
        do {
            CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
            loop_turn(loops, 1, descriptor, fencepost_client_timeout(client) == 0 ? 0 : 10);
            result = fencepost_attempt_finish(attempt, &grant);
        } while (result == FENCEPOST_RESULT_PENDING && millis() < end);
        if (CHECK_RESULT(result, FENCEPOST_OK)) {
            CHECK_RESULT(fencepost_release_start(grant), FENCEPOST_OK);
            while (fencepost_release_finish(grant) == FENCEPOST_RESULT_PENDING && millis() < end) {
                CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
                loop_turn(loops, 1, descriptor, 10);
            }
        }
        fencepost_attempt_free(attempt);
        fencepost_grant_free(grant);
    }
    fencepost_lock_free(lock);
    close_client(client);
    redisAsyncFree(commands.context);
}

int main(void) {
    enum family family;

    for (family = ZOOKEEPER; family < FAMILIES; family++) {
        if (address(family) == NULL)
            continue;
        TEST_ON(free_lock_is_granted_to_a_busy_loop, family, label(family));
        TEST_ON(release_is_confirmed_to_a_busy_loop, family, label(family));
    }
    if (address(REDIS) != NULL)
        TEST(callers_loop_was_busy);
    return check_close();
}
