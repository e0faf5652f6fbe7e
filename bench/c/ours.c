/* Takes locks on command, with fencepost. usage: worker KIND URL LOCK */
#include <fencepost-client.h>
#include <stdio.h>
#include <string.h>

#include "worker.h"

static struct {
    fencepost_client *client;
    fencepost_lock *lock;
    fencepost_grant *grant;
} own;

static void check(const char *what, fencepost_result result) {
    if (result != FENCEPOST_OK)
        fail(what, fencepost_detail());
}

static void acquire(void *self) {
    (void)self;
    check("acquire", fencepost_lock_acquire(own.lock, FENCEPOST_FOREVER, &own.grant));
}

static void release(void *self) {
    (void)self;
    check("release", fencepost_release(own.grant));
    fencepost_grant_free(own.grant);
}

static void end(void *self) {
    (void)self;
    fencepost_lock_free(own.lock);
    check("close", fencepost_close(own.client));
    fencepost_client_free(own.client);
}

int main(int argc, char **argv) {
    if (argc != 4 || strcmp(argv[1], "fencepost") != 0)
        fail("usage", "worker fencepost URL LOCK");
    check(argv[2], fencepost_connect(argv[2], &own.client));
    check(argv[3], fencepost_lock_new(own.client, argv[3], &own.lock));
    lock l = {acquire, release, end, NULL, NULL};
    return serve(&l);
}
