/* A thread that waits for a lock, and what one holds shortly. */
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
/* The same, and returns when the waiter waits behind the holder: what happens to the server happens after that. */
void start_waiting_behind(
    struct waiter *waiter, enum family family, fencepost_client *holder, fencepost_client *client, const char *name);
/* The waiter has got the lock, and gives it back. */
void gets_it(struct waiter *waiter);

/* Holds a lock with a lease of so many milliseconds (Redis). */
fencepost_grant *hold_shortly(fencepost_client *client, const char *name, int64_t ttl);

#endif
