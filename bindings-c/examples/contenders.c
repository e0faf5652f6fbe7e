/*
 * Prints the holders and the waiters of a semaphore, in an event loop.
 *
 *     contenders zk://localhost:2181 presses
 *
 * cc -std=c99 contenders.c $(pkg-config --cflags --libs fencepost-client)
 */
#include <fencepost-client.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#define PRESSES FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = 3, .identifier = "press 1")

static void turn(fencepost_client *client) {
    struct pollfd news = {fencepost_client_fd(client), POLLIN, 0};

    poll(&news, 1, fencepost_client_timeout(client));
    fencepost_client_process(client);
}

static fencepost_result acquire(fencepost_client *client, fencepost_lock *lock, fencepost_grant **grant) {
    fencepost_attempt *attempt;
    fencepost_result r = fencepost_lock_acquire_start(lock, 1000 /* ms */, &attempt);

    if (r != FENCEPOST_OK)
        return r;
    while ((r = fencepost_attempt_finish(attempt, grant)) == FENCEPOST_RESULT_PENDING)
        turn(client);
    fencepost_attempt_free(attempt);
    return r;
}

static fencepost_result show(fencepost_client *client, fencepost_lock *lock) {
    fencepost_contenders *contenders;
    fencepost_inspection *inspection;
    fencepost_result r = fencepost_lock_contenders_start(lock, &inspection);
    size_t i;

    if (r != FENCEPOST_OK)
        return r;
    while ((r = fencepost_inspection_finish(inspection, &contenders)) == FENCEPOST_RESULT_PENDING)
        turn(client);
    for (i = 0; r == FENCEPOST_OK && i < fencepost_contenders_count(contenders); i++) {
        const fencepost_contender *one = fencepost_contenders_at(contenders, i);
        printf("%s %s under fence %" PRIu64 "\n", one->identifier, one->holds ? "holds" : "waits", one->fence);
    }
    if (r == FENCEPOST_OK)
        fencepost_contenders_free(contenders);
    fencepost_inspection_free(inspection);
    return r;
}

int main(int argc, char **argv) {
    const char *url = argc > 1 ? argv[1] : "memory:", *name = argc > 2 ? argv[2] : "presses";
    fencepost_client *client = NULL;
    fencepost_grant *grant = NULL;
    fencepost_lock *lock = NULL;
    fencepost_result r = fencepost_connect(url, &client);

    if (r == FENCEPOST_OK && fencepost_client_fd(client) < 0)
        r = FENCEPOST_RESULT_SYSTEM_ERROR;
    if (r == FENCEPOST_OK)
        r = fencepost_lock_open(client, name, PRESSES, &lock);
    if (r == FENCEPOST_OK)
        r = acquire(client, lock, &grant);
    if (r == FENCEPOST_OK)
        r = show(client, lock);
    if (r != FENCEPOST_OK)
        fprintf(stderr, "%s: %s\n", fencepost_result_name(r), fencepost_detail());
    fencepost_grant_free(grant); /* the client releases it in the background, at the latest in the close */
    fencepost_lock_free(lock);
    fencepost_client_free(client);
    return r == FENCEPOST_OK ? 0 : 1;
}
