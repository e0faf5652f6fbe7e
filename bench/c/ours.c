/* Takes locks on command, with fencepost. usage: worker KIND URL LOCK */
#include <fencepost-client.h>
#include <stdio.h>
#include <string.h>

#include "given.h"
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
    given_close();
}

/* What is taken. A semaphore has one permit. */
static const struct {
    const char *name;
    fencepost_options options;
} KINDS[] = {
    {"fencepost", {.size = sizeof(fencepost_options), .kind = FENCEPOST_KIND_MUTEX}},
    {"fencepost-given", {.size = sizeof(fencepost_options), .kind = FENCEPOST_KIND_MUTEX}},
    {"fencepost-read", {.size = sizeof(fencepost_options), .kind = FENCEPOST_KIND_READER}},
    {"fencepost-write", {.size = sizeof(fencepost_options), .kind = FENCEPOST_KIND_WRITER}},
    {"fencepost-semaphore", {.size = sizeof(fencepost_options), .kind = FENCEPOST_KIND_SEMAPHORE, .permits = 1}},
};

static const fencepost_options *of_kind(const char *name) {
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(KINDS[i].name, name) == 0)
            return &KINDS[i].options;
    }
    fail("no such kind", name);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 4)
        fail("usage", "worker fencepost[-given|-read|-write|-semaphore] URL LOCK");
    int given = strcmp(argv[1], "fencepost-given") == 0;
    check(argv[2], (given ? given_open : fencepost_connect)(argv[2], &own.client));
    check(argv[3], fencepost_lock_open(own.client, argv[3], of_kind(argv[1]), &own.lock));
    lock l = {acquire, release, end, NULL, NULL};
    return serve(&l);
}
