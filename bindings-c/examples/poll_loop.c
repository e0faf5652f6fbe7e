/*
 * Holds a lock inside an event loop: no call blocks, there are no callbacks, and fencepost has no thread.
 *
 *     poll_loop zk://localhost:2181 stock/42
 *
 * cc -std=c99 poll_loop.c $(pkg-config --cflags --libs fencepost-client)
 */
#include <fencepost-client.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

enum stage { WAITING, HOLDING, RELEASING, DONE };

struct work {
    enum stage stage;
    fencepost_attempt *attempt;
    fencepost_grant *grant;
    fencepost_result result;
};

/* One turn of the loop: it looks for the result of the last step, and begins the next one. */
static void advance(struct work *work) {
    switch (work->stage) {
    case WAITING:
        work->result = fencepost_attempt_finish(work->attempt, &work->grant);
        if (work->result == FENCEPOST_RESULT_PENDING)
            return;
        work->stage = work->result == FENCEPOST_OK ? HOLDING : DONE;
        break;
    case HOLDING:
        /* Longer work calls fencepost_grant_is_lost in every turn. */
        printf("sold under fence %" PRIu64 "\n", fencepost_grant_fence(work->grant));
        work->result = fencepost_release_start(work->grant);
        work->stage = work->result == FENCEPOST_OK ? RELEASING : DONE;
        break;
    case RELEASING:
        work->result = fencepost_release_finish(work->grant);
        if (work->result == FENCEPOST_RESULT_PENDING)
            return;
        work->stage = DONE;
        break;
    case DONE:
        break;
    }
}

/* The loop: one descriptor for everything that fencepost waits for. */
static void run(fencepost_client *client, struct work *work) {
    struct pollfd sources[1] = {{fencepost_client_fd(client), POLLIN, 0}};
    enum stage before;

    for (;;) {
        do {
            before = work->stage;
            advance(work);
        } while (work->stage != before);
        if (work->stage == DONE)
            return;
        poll(sources, 1, fencepost_client_timeout(client));
        fencepost_client_process(client);
    }
}

static fencepost_result start(fencepost_client *client, const char *name, struct work *work) {
    fencepost_lock *lock;
    fencepost_result result = fencepost_lock_new(client, name, &lock);

    if (result == FENCEPOST_OK) {
        result = fencepost_lock_acquire_start(lock, 5000 /* ms */, &work->attempt);
        fencepost_lock_free(lock);
    }
    return result;
}

int main(int argc, char **argv) {
    struct work work = {WAITING, NULL, NULL, FENCEPOST_RESULT_OK};
    fencepost_client *client;

    if (fencepost_connect(argc > 1 ? argv[1] : "memory:", &client) != FENCEPOST_OK) {
        fprintf(stderr, "%s\n", fencepost_detail());
        return 1;
    }
    fencepost_client_fd(client); /* before the first acquire; from here on, this program drives the client */
    work.result = start(client, argc > 2 ? argv[2] : "stock/42", &work);
    if (work.result == FENCEPOST_OK)
        run(client, &work);
    if (work.result != FENCEPOST_OK)
        fprintf(stderr, "%s: %s\n", fencepost_result_name((int32_t)work.result), fencepost_detail());
    fencepost_grant_free(work.grant);
    fencepost_attempt_free(work.attempt);
    fencepost_client_free(client);
    return work.result == FENCEPOST_OK ? 0 : 1;
}
