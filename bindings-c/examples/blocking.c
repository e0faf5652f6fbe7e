/*
 * Holds a lock over blocking calls: connect, acquire, work, release.
 *
 *     blocking zk://localhost:2181 stock/42
 *
 * cc -std=c99 blocking.c $(pkg-config --cflags --libs fencepost-client)
 */
#include <fencepost-client.h>
#include <inttypes.h>
#include <stdio.h>

/* The resource checks the fence: it refuses a holder if another client has acquired the lock since. */
static void sell(int item, uint64_t fence) {
    printf("sold item %d under fence %" PRIu64 "\n", item, fence);
}

int main(int argc, char **argv) {
    const char *url = argc > 1 ? argv[1] : "memory:", *name = argc > 2 ? argv[2] : "stock/42";
    fencepost_client *client;
    fencepost_grant *grant;
    fencepost_result r;

    if ((r = fencepost_connect(url, &client)) != FENCEPOST_OK)
        goto fail;
    if ((r = fencepost_acquire(client, name, 5000 /* ms */, &grant)) == FENCEPOST_OK) {
        sell(42, fencepost_grant_fence(grant));
        r = fencepost_release(grant);
        fencepost_grant_free(grant);
    } else if (r == FENCEPOST_RESULT_TIMEOUT) {
        printf("another client is selling\n");
        r = FENCEPOST_OK;
    }
    if (r != FENCEPOST_OK)
        fprintf(stderr, "%s: %s\n", fencepost_result_name(r), fencepost_detail());
    if (fencepost_close(client) != FENCEPOST_OK)
        fprintf(stderr, "%s\n", fencepost_detail());
    fencepost_client_free(client);
    return r == FENCEPOST_OK ? 0 : 1;

fail:
    fprintf(stderr, "%s: %s\n", fencepost_result_name(r), fencepost_detail());
    return 1;
}
