/* Two thousand acquires, waiters and grants at once on one client, in an event loop, also during a restart of the
 * server. With GIVEN, the clients use ZooKeeper handles of the program. */
#include <poll.h>
#include <pthread.h>

#ifdef GIVEN
#include <fencepost-zookeeper.h>
#endif

#include "support.h"

#ifdef __SANITIZE_THREAD__ /* ThreadSanitizer makes everything ten times as slow */
#define CROWD 200
#else
#define CROWD 2000
#endif

/* Enough time for a crowd on a busy machine, if nothing hangs (ms). */
#define VERY_LONG 120000

/* The session timeout (ms). */
#define SESSION 10000

/* A client in a loop, with CROWD locks. */
struct crowd {
    zhandle_t *handle; /* NULL: the client connects by address */
    fencepost_client *client;
    fencepost_lock *locks[CROWD];
    fencepost_attempt *attempts[CROWD]; /* NULL: no attempt is open */
    fencepost_grant *grants[CROWD];     /* NULL: no grant is held */
};

static struct crowd first, second;

#ifdef GIVEN
static void quiet(const char *message) {
    (void)message;
}

static void connect_crowd(struct crowd *crowd, enum family family, int session) {
    crowd->handle = zookeeper_init2(address(family), NULL, session, NULL, NULL, ZOO_NO_LOG_CLIENTENV, quiet);
    CHECK_RESULT(fencepost_zookeeper_attach(crowd->handle, NULL, NULL, &crowd->client), FENCEPOST_OK);
}

static void disconnect_crowd(struct crowd *crowd) {
    fencepost_client_free(crowd->client);
    zookeeper_close(crowd->handle);
}
#else
static void connect_crowd(struct crowd *crowd, enum family family, int session) {
    char rest[64] = "";

    if (family == ZOOKEEPER)
        snprintf(rest, sizeof rest, "?session_timeout=%d", session);
    crowd->client = client_of(url(family, rest));
}

static void disconnect_crowd(struct crowd *crowd) {
    fencepost_client_free(crowd->client);
}
#endif

static bool gather(struct crowd *crowd, enum family family, int session, const char *name) {
    char text[128];
    int i;

    memset(crowd, 0, sizeof *crowd);
    connect_crowd(crowd, family, session);
    for (i = 0; i < CROWD; i++) {
        snprintf(text, sizeof text, "%s/%d", name, i);
        if (fencepost_lock_new(crowd->client, text, &crowd->locks[i]) != FENCEPOST_OK)
            return false;
    }
    return CHECK(fencepost_client_fd(crowd->client) >= 0);
}

static void disperse(struct crowd *crowd) {
    int i;

    for (i = 0; i < CROWD; i++) {
        fencepost_attempt_free(crowd->attempts[i]);
        fencepost_grant_free(crowd->grants[i]);
        fencepost_lock_free(crowd->locks[i]);
    }
    disconnect_crowd(crowd);
}

/* One turn of a loop with one or two clients, which may be closed. */
static void turn(struct crowd *one, struct crowd *other) {
    struct crowd *const crowds[] = {one, other};
    struct pollfd sources[2];
    int timeout, shortest = 100, i, count = other == NULL ? 1 : 2;

    for (i = 0; i < count; i++) {
        sources[i].fd = fencepost_client_fd(crowds[i]->client);
        sources[i].events = POLLIN;
        timeout = fencepost_client_timeout(crowds[i]->client);
        if (timeout >= 0 && timeout < shortest)
            shortest = timeout;
    }
    poll(sources, (nfds_t)count, shortest);
    for (i = 0; i < count; i++)
        fencepost_client_process(crowds[i]->client);
}

static bool start(struct crowd *crowd) {
    int i, started = 0;

    for (i = 0; i < CROWD; i++)
        started +=
            fencepost_lock_acquire_start(crowd->locks[i], FENCEPOST_FOREVER, &crowd->attempts[i]) == FENCEPOST_OK;
    return CHECK(started == CROWD);
}

/* Takes the new grants, and returns the number of open attempts. A refused attempt fails the test. */
static int take(struct crowd *crowd) {
    fencepost_result result;
    int i, left = 0;

    for (i = 0; i < CROWD; i++) {
        if (crowd->attempts[i] == NULL)
            continue;
        result = fencepost_attempt_finish(crowd->attempts[i], &crowd->grants[i]);
        if (result == FENCEPOST_RESULT_PENDING) {
            left++;
            continue;
        }
        CHECK_RESULT(result, FENCEPOST_OK);
        fencepost_attempt_free(crowd->attempts[i]);
        crowd->attempts[i] = NULL;
    }
    return left;
}

/* Runs turns of the loop until all attempts are granted. */
static bool all_granted(struct crowd *crowd, struct crowd *beside) {
    int64_t end = millis() + VERY_LONG;
    int left;

    while ((left = take(crowd)) > 0 && millis() < end)
        turn(crowd, beside);
    if (left > 0)
        printf("    %d of %d acquires are open\n", left, CROWD);
    return CHECK(left == 0);
}

/* Releases all grants, and returns the number of releases that the server confirmed. */
static int all_released(struct crowd *crowd, struct crowd *beside) {
    int64_t end = millis() + VERY_LONG;
    fencepost_result result;
    int i, left, confirmed = 0;

    for (i = 0; i < CROWD; i++)
        fencepost_release_start(crowd->grants[i]);
    do {
        turn(crowd, beside);
        for (i = left = 0; i < CROWD; i++) {
            if (crowd->grants[i] == NULL)
                continue;
            result = fencepost_release_finish(crowd->grants[i]);
            if (result == FENCEPOST_RESULT_PENDING || result == FENCEPOST_RESULT_RELEASE_UNCONFIRMED) {
                left++;
                continue;
            }
            confirmed += result == FENCEPOST_OK;
            fencepost_grant_free(crowd->grants[i]);
            crowd->grants[i] = NULL;
        }
    } while (left > 0 && millis() < end);
    CHECK(left == 0);
    return confirmed;
}

static void a_burst_is_served(enum family family) {
    int round;

    NEED(gather(&first, family, SESSION, new_name("burst")));
    for (round = 0; round < 2; round++) {
        NEED(start(&first) && all_granted(&first, NULL));
        CHECK(all_released(&first, NULL) == CROWD);
    }
    CHECK_RESULT(fencepost_close(first.client), FENCEPOST_OK);
    disperse(&first);
}

/* Runs turns until a later acquire has a result: then all earlier attempts wait at the server. */
static bool all_wait(struct crowd *crowd, struct crowd *beside) {
    fencepost_lock *lock = lock_with(crowd->client, new_name("behind"), NULL);
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;
    int64_t end = millis() + VERY_LONG;
    bool granted;

    CHECK_RESULT(fencepost_lock_acquire_start(lock, FENCEPOST_FOREVER, &attempt), FENCEPOST_OK);
    while (fencepost_attempt_finish(attempt, &grant) == FENCEPOST_RESULT_PENDING && millis() < end)
        turn(crowd, beside);
    granted = CHECK(grant != NULL);
    fencepost_attempt_free(attempt);
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    return granted && CHECK(take(crowd) == CROWD);
}

/* A restart of the server in another thread, while the loop runs. */
struct restart {
    const char *server;
    bool done, ended;
};

static void *restart(void *argument) {
    struct restart *order = argument;

    order->done = control("name", "restart %s", order->server) != NULL;
    __atomic_store_n(&order->ended, true, __ATOMIC_RELEASE);
    return NULL;
}

/* The server restarts while two thousand locks are held and two thousand acquires wait. ZooKeeper keeps the locks. */
static void a_restart_is_survived(enum family family) {
    const char *const servers[] = {"", "zookeeper", "redis-1"};
    const char *name = new_name("restart");
    struct restart order = {servers[family], false, false};
    pthread_t thread;
    int released;

    NEED(gather(&first, family, VERY_LONG, name) && gather(&second, family, VERY_LONG, name));
    NEED(start(&first) && all_granted(&first, &second));
    NEED(start(&second) && all_wait(&second, &first));
    NEED(pthread_create(&thread, NULL, restart, &order) == 0);
    while (!__atomic_load_n(&order.ended, __ATOMIC_ACQUIRE))
        turn(&first, &second);
    pthread_join(thread, NULL);
    NEED(order.done);
    released = all_released(&first, &second);
    CHECK(released == CROWD || family != ZOOKEEPER);
    NEED(all_granted(&second, &first));
    CHECK_RESULT(fencepost_close(first.client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_close(second.client), FENCEPOST_OK);
    disperse(&first);
    disperse(&second);
}

/* Closes a client with two thousand grants, and a client with two thousand waiters. */
static void closing_gives_all_back(enum family family) {
    const char *name = new_name("closing");
    int64_t end;
    int i, valid = 0;
    fencepost_result result;

    NEED(gather(&first, family, SESSION, name) && gather(&second, family, SESSION, name));
    NEED(start(&first) && all_granted(&first, &second));
    NEED(start(&second) && all_wait(&second, &first));
    CHECK_RESULT(fencepost_close_start(first.client), FENCEPOST_OK);
    for (i = 0; i < CROWD; i++)
        valid += fencepost_grant_is_valid(first.grants[i]);
    CHECK(valid == 0);
    for (end = millis() + VERY_LONG;
         (result = fencepost_close_finish(first.client)) == FENCEPOST_RESULT_PENDING && millis() < end;)
        turn(&first, NULL);
    CHECK_RESULT(result, FENCEPOST_OK);
    disperse(&first);
    NEED(all_granted(&second, NULL));
    /* Again, with the waiters' client closed first. */
    NEED(gather(&first, family, SESSION, name) && start(&first) && all_wait(&first, &second));
    CHECK_RESULT(fencepost_close(first.client), FENCEPOST_OK);
    for (i = 0; i < CROWD; i++)
        valid += fencepost_attempt_finish(first.attempts[i], &first.grants[i]) != FENCEPOST_RESULT_CLIENT_CLOSED;
    CHECK(valid == 0);
    CHECK_RESULT(fencepost_close(second.client), FENCEPOST_OK);
    disperse(&first);
    disperse(&second);
    /* Neither client has left anything on the server. */
    NEED(gather(&first, family, SESSION, name) && start(&first) && all_granted(&first, NULL));
    CHECK_RESULT(fencepost_close(first.client), FENCEPOST_OK);
    disperse(&first);
}

int main(void) {
    enum family family;

    for (family = ZOOKEEPER; family < FAMILIES; family++) {
        if (address(family) == NULL)
            continue;
#ifdef GIVEN
        if (family != ZOOKEEPER)
            continue;
#endif
        TEST_ON(a_burst_is_served, family, label(family));
        TEST_ON(a_restart_is_survived, family, label(family));
        TEST_ON(closing_gives_all_back, family, label(family));
    }
    return check_close();
}
