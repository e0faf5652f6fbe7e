/* Threads that do what threads do: wait for the same thing, are cancelled, and are running while the program forks. */
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

/* One of them gets the grant, and frees it while the others wake up. */
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
        poll(NULL, 0, round); /* sooner or later: some of them may not wait yet */
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
    fencepost_result result; /* PENDING: it has not come back */
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

/* The call ends as it would have ended, and the cancellation acts behind it. Nobody else notices. */
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

/* Cancelled again and again, wherever it is. */
static void cancelled_anywhere(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    int round;

    for (round = 0; round < 60; round++) {
        struct call call = {client, new_name("anywhere"), LONG, FENCEPOST_RESULT_PENDING};
        pthread_t thread;

        pthread_create(&thread, NULL, acquire_it, &call);
        if (round % 3 > 0)
            usleep((useconds_t)round * 20);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    let_go(hold(client, new_name("anywhere")));
    close_client(client);
}

/* ---- the program forks ---- */

static bool stop; /* of all threads: atomic */

static void *use_it(void *argument) {
    fencepost_client *client = argument;

    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        fencepost_grant *grant = NULL;

        if (fencepost_acquire(client, "c-tests/forking", LONG, &grant) == FENCEPOST_OK)
            fencepost_release(grant);
        fencepost_grant_free(grant);
    }
    return argument;
}

/* Servers inside the process come and go. */
static void *connect_it(void *argument) {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        fencepost_client *client = NULL;

        if (fencepost_connect("memory:forking", &client) != FENCEPOST_OK)
            return NULL;
        fencepost_client_free(client);
    }
    return argument;
}

/* What a child does: a lock of its own server, of its own client. */
static int child_of(const char *where, const char *name) {
    fencepost_client *client = NULL;
    fencepost_grant *grant = NULL;

    alarm(LONG / 1000);
    if (fencepost_connect(where, &client) != FENCEPOST_OK)
        return 2;
    if (fencepost_acquire(client, name, LONG, &grant) != FENCEPOST_OK)
        return 3;
    if (fencepost_release(grant) != FENCEPOST_OK)
        return 4;
    return 0;
}

/* How many threads work while the process forks. AddressSanitizer's allocator (before GCC 14) leaves its locks to the
 * child as they are, so that the child would wait in malloc for a thread that it has not. */
#ifdef __SANITIZE_ADDRESS__
#define AT_WORK 0
#else
#define AT_WORK 3
#endif

/* The parent's threads may be anywhere when it forks. Its server inside the process is not the child's. */
static void fork_at_any_moment(enum family family) {
    char where[1024];
    fencepost_client *client;
    pthread_t threads[3];
    int round, i;

    snprintf(where, sizeof where, "%s", family == MEMORY ? "memory:forking" : url(family, ""));
    client = client_of(where);
    stop = false;
    for (i = 0; i < AT_WORK; i++)
        pthread_create(&threads[i], NULL, i == 0 ? connect_it : use_it, client);
    for (round = 0; round < 100; round++) {
        int status = -1;
        const char *name = new_name("child");
        pid_t child = fork();

        if (child == 0)
            _exit(child_of(where, name));
        if (!CHECK(waitpid(child, &status, 0) == child))
            break;
        if (status != 0)
            printf("    round %d: the child ended with %#x\n", round, status);
        if (!CHECK(status == 0))
            break;
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (i = 0; i < AT_WORK; i++)
        pthread_join(threads[i], NULL);
    close_client(client);
}

int main(void) {
    enum family family;

    for (family = MEMORY; family < FAMILIES; family++) {
        if (address(family) == NULL)
            continue;
        TEST_ON(one_attempt_is_waited_for_by_several, family, label(family));
        TEST_ON(cancelled_thread_harms_nobody, family, label(family));
        TEST_ON(cancelled_anywhere, family, label(family));
        TEST_ON(fork_at_any_moment, family, label(family));
    }
    return check_close();
}
