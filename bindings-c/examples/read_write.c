/*
 * A read/write lock. Many clients read at once. A writer releases the lock when another client requests it.
 *
 *     read_write zk://localhost:2181 stock/42
 *
 * cc -std=c99 read_write.c $(pkg-config --cflags --libs fencepost-client)
 */
#include <fencepost-client.h>
#include <inttypes.h>
#include <stdio.h>

#define READER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER)
#define WRITER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_WRITER, .identifier = "till 7", .revocable = true)

/* Any number of clients may read at the same time. */
static fencepost_result look(fencepost_client *client, const char *name) {
    fencepost_grant *grant;
    fencepost_result r = fencepost_acquire_with(client, name, READER, 1000 /* ms */, &grant);

    if (r != FENCEPOST_OK)
        return r;
    printf("42 are left\n");
    r = fencepost_release(grant);
    fencepost_grant_free(grant);
    return r;
}

/* Sells until everything is sold, or until another client requests the lock. */
static fencepost_result sell(fencepost_client *client, const char *name) {
    fencepost_grant *grant;
    fencepost_result r = fencepost_acquire_with(client, name, WRITER, 1000 /* ms */, &grant);
    int item;

    if (r != FENCEPOST_OK)
        return r;
    for (item = 42; item > 40 && !fencepost_grant_is_lost(grant) && !fencepost_grant_revoke_requested(grant); item--)
        printf("sold item %d under fence %" PRIu64 "\n", item, fencepost_grant_fence(grant));
    r = fencepost_release(grant);
    fencepost_grant_free(grant);
    return r;
}

int main(int argc, char **argv) {
    const char *url = argc > 1 ? argv[1] : "memory:", *name = argc > 2 ? argv[2] : "stock/42";
    fencepost_client *client;
    fencepost_result r;

    if ((r = fencepost_connect(url, &client)) == FENCEPOST_OK) {
        if ((r = look(client, name)) == FENCEPOST_OK)
            r = sell(client, name);
        if (r != FENCEPOST_OK)
            fprintf(stderr, "%s: %s\n", fencepost_result_name(r), fencepost_detail());
        fencepost_close(client);
        fencepost_client_free(client);
    } else {
        fprintf(stderr, "%s: %s\n", fencepost_result_name(r), fencepost_detail());
    }
    return r == FENCEPOST_OK ? 0 : 1;
}
