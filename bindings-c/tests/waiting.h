/* A thread that waits for a lock, and a lock with a short lease. */
#ifndef FENCEPOST_TESTS_WAITING_H
#define FENCEPOST_TESTS_WAITING_H

#include <pthread.h>

#include "support.h"

struct waiter {
    pthread_t thread;
    fencepost_client *client;
    const char *name;
    fencepost_result result;
    char detail[512]; /* of its thread */
    fencepost_grant *grant;
};

void start_waiting(struct waiter *waiter, fencepost_client *client, const char *name);
/* The same; but returns only when the waiter waits behind the holder, so that a fault of the server comes after that.
 */
void start_waiting_behind(
    struct waiter *waiter, enum family family, fencepost_client *holder, fencepost_client *client, const char *name);
/* Checks that the waiter gets the lock, and releases it. */
void gets_it(struct waiter *waiter);

/* Holds a lock with a lease of so many milliseconds (Redis). */
fencepost_grant *hold_shortly(fencepost_client *client, const char *name, int64_t ttl);

#endif
