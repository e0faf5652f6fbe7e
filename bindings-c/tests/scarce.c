/* A system that provides too few random bytes, threads or descriptors. The test replaces these functions of the C
 * library. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support.h"

/* The maximum that Linux before 5.18 returns at once. */
#define AT_ONCE 256

static bool sparing, interrupted, threadless, full;
static int refusals;

ssize_t getrandom(void *bytes, size_t size, unsigned flags) {
    if (sparing && size > AT_ONCE) {
        refusals++;
        interrupted = !interrupted;
        if (interrupted) {
            errno = EINTR;
            return -1;
        }
        size = AT_ONCE;
    }
    return syscall(SYS_getrandom, bytes, size, flags);
}

static void random_bytes_come_in_parts(void) {
    fencepost_client *client = client_of(url(MEMORY, ""));
    int round;

    sparing = true;
    /* Enough acquires that the client needs new random bytes several times. */
    for (round = 0; round < 100; round++)
        let_go(hold(client, new_name("random")));
    CHECK(refusals > 0);
    sparing = false;
    close_client(client);
}

typedef void *body(void *);
typedef int create(pthread_t *, const pthread_attr_t *, body *, void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, body *run, void *argument) {
    static create *real;

    if (threadless)
        return EAGAIN;
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, run, argument);
}

/* Without a thread, the client does not renew, and the loss has the reason. When threads are available again, the
 * client renews the next grant. */
static void no_thread_can_be_made(enum family family) {
    const fencepost_options *options = family == REDIS ? FENCEPOST_OPTIONS(.ttl = 3000) : NULL;
    const char *name = new_name("threadless");
    fencepost_client *client;
    fencepost_grant *grant;
    int64_t end;

    threadless = true;
    client = client_of(url(family, family == ZOOKEEPER ? "?session_timeout=4000" : ""));
    grant = hold_with(client, name, options);
    NEED(grant != NULL);
    EVENTUALLY(!fencepost_grant_is_valid(grant));
    CHECK_FAULT(fencepost_grant_loss(grant), FENCEPOST_RESULT_LEASE_ENDED, "gives no thread");
    fencepost_grant_free(grant);
    threadless = false;
    grant = hold_with(client, name, options);
    NEED(grant != NULL);
    for (end = millis() + 6000; millis() < end && fencepost_grant_is_valid(grant);)
        poll(NULL, 0, 10);
    CHECK(fencepost_grant_is_valid(grant));
    let_go(grant);
    close_client(client);
}

int epoll_create1(int flags) {
    if (full) {
        errno = EMFILE;
        return -1;
    }
    return (int)syscall(SYS_epoll_create1, flags);
}

#define MOST_DESCRIPTORS 256

static int descriptors(void) {
    int count = 0, i;

    for (i = 0; i < MOST_DESCRIPTORS; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

/* A program that retries leaks no descriptors. When descriptors are available again, its loop drives the client. */
static void no_descriptor_is_left_for_a_loop(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    int before, round;

    let_go(hold(client, new_name("full")));
    before = descriptors();
    full = true;
    for (round = 0; round < 3; round++) {
        CHECK(fencepost_client_fd(client) < 0);
        CHECK(strstr(fencepost_detail(), "descriptor") != NULL);
    }
    CHECK(descriptors() == before);
    /* Until then, the client's own threads drive it. */
    let_go(hold(client, new_name("full")));
    full = false;
    CHECK(fencepost_client_fd(client) >= 0);
    close_client(client);
    CHECK(descriptors() < before);
}

int main(void) {
    TEST(random_bytes_come_in_parts);
    if (address(REDIS) != NULL) {
        TEST_ON(no_thread_can_be_made, REDIS, label(REDIS));
        TEST_ON(no_descriptor_is_left_for_a_loop, REDIS, label(REDIS));
    }
    /* The ZooKeeper library with threads cannot start without threads. */
    if (address(ZOOKEEPER) != NULL && WITH_ST) {
        TEST_ON(no_thread_can_be_made, ZOOKEEPER, label(ZOOKEEPER));
        TEST_ON(no_descriptor_is_left_for_a_loop, ZOOKEEPER, label(ZOOKEEPER));
    }
    return check_close();
}
