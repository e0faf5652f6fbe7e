/* Owners with several threads, and in a forked process; on every kind of server. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#define OWNED FENCEPOST_OPTIONS(.owner = "request-17")

/* Threads of one owner: one of them acquires, and the others share its grant or get BUSY. No other contender gets the
 * lock in between, and nothing is left at the end. */
struct crowd {
    fencepost_client *client;
    const char *name;
    int inside; /* the number of the owner's threads that hold */
    int other_holders;
    int entered;
    int broken;
};

static void *owner_thread(void *argument) {
    struct crowd *crowd = argument;
    fencepost_grant *grant;
    fencepost_result result;
    int i;

    for (i = 0; i < 60; i++) {
        result = fencepost_acquire_with(crowd->client, crowd->name, OWNED, LONG, &grant);
        if (result == FENCEPOST_RESULT_BUSY) {
            poll(NULL, 0, 1);
            continue;
        }
        if (result != FENCEPOST_OK) {
            __atomic_add_fetch(&crowd->broken, 1, __ATOMIC_RELAXED);
            break;
        }
        __atomic_add_fetch(&crowd->inside, 1, __ATOMIC_SEQ_CST);
        __atomic_add_fetch(&crowd->entered, 1, __ATOMIC_RELAXED);
        if (__atomic_load_n(&crowd->other_holders, __ATOMIC_SEQ_CST) != 0)
            __atomic_add_fetch(&crowd->broken, 1, __ATOMIC_RELAXED);
        sched_yield();
        __atomic_sub_fetch(&crowd->inside, 1, __ATOMIC_SEQ_CST);
        if (i % 3 != 0 && fencepost_release(grant) != FENCEPOST_OK)
            __atomic_add_fetch(&crowd->broken, 1, __ATOMIC_RELAXED);
        fencepost_grant_free(grant);
    }
    return NULL;
}

static void *foreign_thread(void *argument) {
    struct crowd *crowd = argument;
    fencepost_client *client = crowd[1].client;
    fencepost_grant *grant;
    int i;

    for (i = 0; i < 10; i++) {
        if (fencepost_acquire(client, crowd->name, LONG, &grant) != FENCEPOST_OK) {
            __atomic_add_fetch(&crowd->broken, 1, __ATOMIC_RELAXED);
            break;
        }
        __atomic_store_n(&crowd->other_holders, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&crowd->inside, __ATOMIC_SEQ_CST) != 0)
            __atomic_add_fetch(&crowd->broken, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&crowd->other_holders, 0, __ATOMIC_SEQ_CST);
        fencepost_release(grant);
        fencepost_grant_free(grant);
    }
    return NULL;
}

static void threads_of_one_owner(enum family family) {
    struct crowd crowd[2] = {{0}, {0}};
    pthread_t threads[5];
    int i;

    crowd->client = client_of(url(family, ""));
    crowd[1].client = client_of(url(family, ""));
    crowd->name = new_name("crowd");
    for (i = 0; i < 5; i++)
        pthread_create(&threads[i], NULL, i < 4 ? owner_thread : foreign_thread, crowd);
    for (i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    CHECK(crowd->broken == 0 && crowd->entered > 0);
    let_go(hold_with(crowd->client, crowd->name, OWNED));
    let_go(hold(crowd[1].client, crowd->name));
    close_client(crowd->client);
    close_client(crowd[1].client);
}

static void a_fork_holds_nothing(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("fork");
    fencepost_grant *grant = hold_with(client, name, OWNED), *none;
    fencepost_lock *lock = lock_with(client, name, OWNED);
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        /* Skips the cleanup of the parent's objects, also by a memory checker. */
        if (fencepost_lock_try_acquire(lock, &none) == FENCEPOST_RESULT_WRONG_PROCESS &&
            fencepost_release(grant) == FENCEPOST_RESULT_WRONG_PROCESS)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    CHECK_RESULT(fencepost_lock_try_acquire(lock, &none), FENCEPOST_OK);
    let_go(grant);
    let_go(none);
    fencepost_lock_free(lock);
    close_client(client);
}

int main(void) {
    enum family family;

    for (family = MEMORY; family < FAMILIES; family++) {
        TEST_ON(threads_of_one_owner, family, label(family));
        TEST_ON(a_fork_holds_nothing, family, label(family));
    }
    return check_close();
}
