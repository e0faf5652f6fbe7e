/* Which threads wake up. The tests count the wake-ups, and do not measure times. */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support.h"

struct waiter {
    pthread_t thread;
    pid_t id;
    fencepost_client *client;
    const char *name;
    int64_t timeout;
    fencepost_result result;
    fencepost_grant *grant;
};

static void *wait_for_it(void *argument) {
    struct waiter *waiter = argument;

    __atomic_store_n(&waiter->id, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    waiter->result = fencepost_acquire(waiter->client, waiter->name, waiter->timeout, &waiter->grant);
    return NULL;
}

/* The number of sleeps of one thread of this process. */
static long sleeps_of(pid_t thread) {
    char place[64], line[128];
    long sleeps = 0, one;
    FILE *status;

    snprintf(place, sizeof place, "/proc/self/task/%d/status", (int)thread);
    if ((status = fopen(place, "r")) == NULL)
        return 0; /* it has ended */
    while (fgets(line, sizeof line, status) != NULL) {
        if (sscanf(line, "voluntary_ctxt_switches: %ld", &one) == 1)
            sleeps = one;
    }
    fclose(status);
    return sleeps;
}

/* The number of sleeps of the other threads of this process. */
static long sleeps_of_others(void) {
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    long all = 0;

    if (!CHECK(tasks != NULL))
        return 0;
    while ((task = readdir(tasks)) != NULL) {
        if (task->d_name[0] != '.' && atoi(task->d_name) != (int)getpid())
            all += sleeps_of((pid_t)atoi(task->d_name));
    }
    closedir(tasks);
    return all;
}

/* Whether the other threads did not wake up while this one acquired one lock after the other. */
static bool others_sleep_on(fencepost_client *client, const char *name) {
    int64_t began = millis();
    long before = sleeps_of_others();
    int i;

    for (i = 0; i < 500; i++)
        let_go(hold(client, name));
    return sleeps_of_others() - before < 100 + (millis() - began) / 4;
}

/* The background thread has nothing to do, and is not woken. If it also listens, it checks from time to time whether
 * the program has stopped making calls. A slow machine may look like this, so the test has several tries. */
static void one_after_the_other_wakes_no_thread(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("quiet");
    bool sleep_on = false;
    int tries;

    let_go(hold(client, name)); /* starts the background thread, and connects */
    for (tries = 0; tries < 5 && !sleep_on; tries++)
        sleep_on = others_sleep_on(client, name);
    CHECK(sleep_on);
    close_client(client);
}

#define WAITERS 8

static long sleeps_of_all(const struct waiter *waiters) {
    long all = 0;
    int i;

    for (i = 0; i < WAITERS; i++)
        all += sleeps_of(waiters[i].id);
    return all;
}

/* Threads that wait for other locks do not wake up, except for the one that drives the client meanwhile. */
static void an_answer_wakes_whom_it_concerns(enum family family) {
    fencepost_client *holder = client_of(url(family, "")), *client = client_of(url(family, ""));
    struct waiter waiters[WAITERS] = {{0}};
    const char *own = new_name("busy");
    fencepost_grant *grants[WAITERS];
    char names[WAITERS][64];
    long before;
    int i;

    for (i = 0; i < WAITERS; i++) {
        snprintf(names[i], sizeof names[i], "%s", new_name("asleep"));
        grants[i] = hold(holder, names[i]);
        waiters[i].client = client;
        waiters[i].name = names[i];
        waiters[i].timeout = LONG;
        pthread_create(&waiters[i].thread, NULL, wait_for_it, &waiters[i]);
        EVENTUALLY(__atomic_load_n(&waiters[i].id, __ATOMIC_ACQUIRE) != 0);
    }
    let_go(hold(client, own));
    before = sleeps_of_all(waiters);
    for (i = 0; i < 100; i++)
        let_go(hold(client, own));
    CHECK(sleeps_of_all(waiters) - before < 100 * WAITERS);
    for (i = 0; i < WAITERS; i++) {
        let_go(grants[i]);
        pthread_join(waiters[i].thread, NULL);
        CHECK_RESULT(waiters[i].result, FENCEPOST_OK);
        let_go(waiters[i].grant);
    }
    close_client(client);
    close_client(holder);
}

/* One waiter handles the timers for all waiters; when it ends, another one does. Here they end in the order in which
 * they came, and then in the opposite order. */
static void timers_are_handed_over(enum family family) {
    fencepost_client *holder = client_of(url(family, "")), *client = client_of(url(family, ""));
    const char *name = new_name("timers");
    fencepost_grant *grant = hold(holder, name);
    struct waiter waiters[WAITERS] = {{0}};
    int i, order;

    for (order = 0; order < 2; order++) {
        for (i = 0; i < WAITERS; i++) {
            waiters[i] = (struct waiter){.client = client, .name = name};
            waiters[i].timeout = 200 + 100 * (order == 0 ? i : WAITERS - i);
            pthread_create(&waiters[i].thread, NULL, wait_for_it, &waiters[i]);
            EVENTUALLY(__atomic_load_n(&waiters[i].id, __ATOMIC_ACQUIRE) != 0);
        }
        for (i = 0; i < WAITERS; i++) {
            pthread_join(waiters[i].thread, NULL);
            CHECK_RESULT(waiters[i].result, FENCEPOST_RESULT_TIMEOUT);
        }
    }
    let_go(grant);
    close_client(client);
    close_client(holder);
}

static int stuck[2], freed[2];

/* Blocks its thread until another one writes to the pipe. */
static void hold_up(int number) {
    char byte = 0;

    (void)number;
    if (write(stuck[1], &byte, 1) != 1 || read(freed[0], &byte, 1) != 1)
        _exit(1);
}

#define READER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER)
#define WRITER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_WRITER)

static void *read_it(void *argument) {
    struct waiter *waiter = argument;

    waiter->result = fencepost_acquire_with(waiter->client, waiter->name, READER, waiter->timeout, &waiter->grant);
    __atomic_store_n(&waiter->id, 1, __ATOMIC_RELEASE);
    return NULL;
}

#define HELD_UP 3

/* All readers get their grants at the same time. The first ones are in a signal handler. */
static void threads_that_are_held_up_hold_up_no_other(void) {
    fencepost_client *client = client_of("memory:");
    struct sigaction action = {.sa_handler = hold_up}, before;
    struct waiter waiters[WAITERS] = {{0}};
    const char *name = new_name("held-up");
    fencepost_grant *grant = NULL;
    char bytes[HELD_UP] = {0};
    int i;

    CHECK(pipe(stuck) == 0 && pipe(freed) == 0 && sigaction(SIGUSR1, &action, &before) == 0);
    CHECK_RESULT(fencepost_acquire_with(client, name, WRITER, LONG, &grant), FENCEPOST_OK);
    for (i = 0; i < WAITERS; i++) {
        waiters[i] = (struct waiter){.client = client, .name = name, .timeout = FENCEPOST_FOREVER};
        pthread_create(&waiters[i].thread, NULL, read_it, &waiters[i]);
        EVENTUALLY(contenders(client, name, READER) == (size_t)i + 2);
    }
    for (i = 0; i < HELD_UP; i++) {
        pthread_kill(waiters[i].thread, SIGUSR1);
        CHECK(read(stuck[0], bytes, 1) == 1);
    }
    let_go(grant);
    for (i = HELD_UP; i < WAITERS; i++)
        EVENTUALLY(__atomic_load_n(&waiters[i].id, __ATOMIC_ACQUIRE) != 0);
    CHECK(write(freed[1], bytes, HELD_UP) == HELD_UP);
    for (i = 0; i < WAITERS; i++) {
        pthread_join(waiters[i].thread, NULL);
        if (CHECK_RESULT(waiters[i].result, FENCEPOST_OK))
            let_go(waiters[i].grant);
    }
    close_client(client);
    sigaction(SIGUSR1, &before, NULL);
    for (i = 0; i < 2; i++) {
        close(stuck[i]);
        close(freed[i]);
    }
}

int main(void) {
    enum family family;

    TEST(threads_that_are_held_up_hold_up_no_other);
    for (family = MEMORY; family < FAMILIES; family++) {
        if (address(family) == NULL)
            continue;
        TEST_ON(an_answer_wakes_whom_it_concerns, family, label(family));
        TEST_ON(timers_are_handed_over, family, label(family));
        if (family == REDIS ||
            (family == ZOOKEEPER && !is_threaded())) /* libzookeeper_mt has its own thread for reads */
            TEST_ON(one_after_the_other_wakes_no_thread, family, label(family));
    }
    return check_close();
}
