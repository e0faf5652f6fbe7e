/* Threads that wait for the same attempt, and threads that are cancelled. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

/* ---- two threads wait for one attempt ---- */

static fencepost_attempt *attempt;

struct waiter {
    pthread_t thread;
    fencepost_result result;
    int64_t fence;
};

static void *wait_for_it(void *argument) {
    struct waiter *waiter = argument;
    fencepost_grant *grant = NULL;

    waiter->result = fencepost_attempt_wait(attempt, &grant);
    if (waiter->result == FENCEPOST_OK) {
        waiter->fence = (int64_t)fencepost_grant_fence(grant);
        CHECK_RESULT(fencepost_release(grant), FENCEPOST_OK);
        fencepost_grant_free(grant);
    }
    return NULL;
}

/* One thread gets the grant, and frees it while the others wake up. */
static void one_attempt_is_waited_for_by_several(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("several");
    struct waiter waiters[4];
    int round, i, granted;

    for (round = 0; round < 20; round++) {
        fencepost_lock *lock = lock_with(client, name, NULL);
        fencepost_grant *held = hold(client, name);

        CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
        for (i = 0; i < 4; i++)
            pthread_create(&waiters[i].thread, NULL, wait_for_it, &waiters[i]);
        poll(NULL, 0, round); /* a different time in each round: some threads may not wait yet */
        let_go(held);
        for (granted = 0, i = 0; i < 4; i++) {
            pthread_join(waiters[i].thread, NULL);
            granted += waiters[i].result == FENCEPOST_OK;
            CHECK(waiters[i].result == FENCEPOST_OK || waiters[i].result == FENCEPOST_RESULT_NOT_WAITING);
        }
        CHECK(granted == 1);
        fencepost_attempt_free(attempt);
        fencepost_lock_free(lock);
    }
    close_client(client);
}

/* ---- a thread is cancelled ---- */

struct call {
    fencepost_client *client;
    const char *name;
    int64_t timeout;
    fencepost_result result; /* PENDING: the call has not returned */
};

static void *acquire_it(void *argument) {
    struct call *call = argument;
    fencepost_grant *grant = NULL;

    call->result = fencepost_acquire(call->client, call->name, call->timeout, &grant);
    if (call->result == FENCEPOST_OK)
        fencepost_grant_free(grant);
    pthread_testcancel();
    return call;
}

/* The call ends as usual, and the cancellation takes effect after it. Other threads are not affected. */
static void cancelled_thread_harms_nobody(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("cancelled");
    struct call call = {client, name, 1500, FENCEPOST_RESULT_PENDING};
    fencepost_grant *held = hold(client, name);
    pthread_t thread;
    void *ended = NULL;
    int64_t start;
    int i;

    pthread_create(&thread, NULL, acquire_it, &call);
    poll(NULL, 0, 200);
    CHECK(pthread_cancel(thread) == 0);
    for (i = 0; i < 3; i++)
        let_go(hold(client, new_name("meanwhile")));
    pthread_join(thread, &ended);
    CHECK(ended == PTHREAD_CANCELED);
    CHECK_RESULT(call.result, FENCEPOST_RESULT_TIMEOUT);
    let_go(held);
    let_go(hold(client, name));
    start = millis();
    close_client(client);
    CHECK(millis() - start < LONG);
}

/* The call of a thread that is cancelled, and its result. */
struct deed {
    fencepost_client *client;
    const char *name;
    fencepost_lock *lock;
    fencepost_attempt *attempt;
    fencepost_grant *grant;
    fencepost_result result;
};

static fencepost_result acquires(struct deed *deed) {
    return fencepost_acquire(deed->client, deed->name, LONG, &deed->grant);
}

static fencepost_result releases(struct deed *deed) {
    return fencepost_release(deed->grant);
}

static fencepost_result awaits_the_loss(struct deed *deed) {
    return fencepost_grant_wait_lost(deed->grant, 10);
}

static fencepost_result awaits_the_attempt(struct deed *deed) {
    return fencepost_attempt_wait(deed->attempt, &deed->grant);
}

static fencepost_result lists(struct deed *deed) {
    fencepost_contenders *list = NULL;
    fencepost_result result = fencepost_lock_contenders(deed->lock, &list);

    fencepost_contenders_free(list);
    return result;
}

static fencepost_result closes(struct deed *deed) {
    return fencepost_close(deed->client);
}

/* The preparation for each call, and its expected result. */
static const struct {
    const char *name;
    fencepost_result (*call)(struct deed *deed);
    bool holds, begins, of_its_own;
    fencepost_result expected;
} deeds[] = {
    {"acquire", acquires, false, false, false, FENCEPOST_OK},
    {"release", releases, true, false, false, FENCEPOST_OK},
    {"wait_lost", awaits_the_loss, true, false, false, FENCEPOST_RESULT_PENDING},
    {"attempt_wait", awaits_the_attempt, false, true, false, FENCEPOST_OK},
    {"contenders", lists, false, false, false, FENCEPOST_OK},
    {"close", closes, true, false, true, FENCEPOST_OK},
};

#define DEEDS (sizeof deeds / sizeof *deeds)

static struct {
    struct deed deed;
    fencepost_result (*call)(struct deed *deed);
} now;

static void *do_it(void *argument) {
    now.deed.result = now.call(&now.deed);
    pthread_testcancel();
    return argument;
}

static void cancel_in(fencepost_client *shared, enum family family, size_t i, int round) {
    fencepost_client *client = deeds[i].of_its_own ? client_of(url(family, "")) : shared;
    const char *name = new_name("anywhere");
    pthread_t thread;

    now.call = deeds[i].call;
    now.deed = (struct deed){.client = client, .name = name, .result = FENCEPOST_RESULT_PANIC};
    now.deed.lock = lock_with(client, name, NULL);
    if (deeds[i].holds)
        now.deed.grant = hold(client, name);
    if (deeds[i].begins)
        CHECK_RESULT(fencepost_lock_acquire_start(now.deed.lock, LONG, &now.deed.attempt), FENCEPOST_OK);
    pthread_create(&thread, NULL, do_it, NULL);
    if (round % 3 > 0)
        usleep((useconds_t)round * 20);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    if (now.deed.result != deeds[i].expected)
        printf("    round %d of %s\n", round, deeds[i].name);
    CHECK_RESULT(now.deed.result, (int)deeds[i].expected);
    fencepost_attempt_free(now.deed.attempt);
    fencepost_grant_free(now.deed.grant);
    fencepost_lock_free(now.deed.lock);
    if (deeds[i].of_its_own)
        fencepost_client_free(client);
}

/* Cancels a thread again and again, at any point of every call that waits: the call finishes first. */
static void cancelled_anywhere(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    size_t i;
    int round;

    for (i = 0; i < DEEDS; i++) {
        if (family == REDIS && deeds[i].call == lists)
            continue;
        for (round = 0; round < 60; round++)
            cancel_in(client, family, i, round);
    }
    let_go(hold(client, new_name("anywhere")));
    close_client(client);
}

/* ---- a thread connects while its cancellation is pending ---- */

static const char *target;
static int connected, done;

static void *connect_cancelled(void *argument) {
    fencepost_client *client = NULL;

    pthread_cancel(pthread_self()); /* it takes effect at the next cancellation point */
    if (fencepost_connect(target, &client) == FENCEPOST_OK) {
        __atomic_add_fetch(&connected, 1, __ATOMIC_SEQ_CST);
        fencepost_client_free(client);
    }
    pthread_testcancel();
    return argument;
}

/* Runs on a separate thread: if a mutex of the library stays locked, the test fails, and does not hang. */
static void *connect_and_fork(void *argument) {
    fencepost_client *client = NULL;
    pid_t child;
    int status = 1;

    CHECK_RESULT(fencepost_connect(target, &client), FENCEPOST_OK);
    if ((child = fork()) == 0)
        _exit(0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close_client(client);
    __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
    return argument;
}

static void cancelled_while_connecting(enum family family) {
    pthread_t thread;
    void *ended;
    int round;

    target = url(family, "");
    connected = done = 0;
    for (round = 0; round < 60; round++) {
        pthread_create(&thread, NULL, connect_cancelled, NULL);
        pthread_join(thread, &ended);
        NEED(ended == PTHREAD_CANCELED && __atomic_load_n(&connected, __ATOMIC_SEQ_CST) == round + 1);
    }
    pthread_create(&thread, NULL, connect_and_fork, NULL);
    EVENTUALLY(__atomic_load_n(&done, __ATOMIC_SEQ_CST));
    if (__atomic_load_n(&done, __ATOMIC_SEQ_CST))
        pthread_join(thread, NULL);
}

int main(void) {
    enum family family;

    for (family = MEMORY; family < FAMILIES; family++) {
        if (address(family) == NULL)
            continue;
        TEST_ON(one_attempt_is_waited_for_by_several, family, label(family));
        TEST_ON(cancelled_thread_harms_nobody, family, label(family));
        TEST_ON(cancelled_anywhere, family, label(family));
        TEST_ON(cancelled_while_connecting, family, label(family));
    }
    return check_close();
}
