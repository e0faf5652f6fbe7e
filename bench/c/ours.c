/* Acquires locks on command, with fencepost. usage: worker KIND URL LOCK */
#include <fencepost-client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "given.h"
#include "many.h"
#include "ours_operation.h"
#include "worker.h"

/* A lock, and the holder's grant. */
typedef struct held {
    fencepost_lock *lock;
    fencepost_grant *grant;
} held;

static fencepost_client *client;

static void check(const char *what, fencepost_result result) {
    if (result != FENCEPOST_OK)
        fail(what, fencepost_detail());
}

static void acquire(void *self) {
    held *own = self;
    check("acquire", fencepost_lock_acquire(own->lock, FENCEPOST_FOREVER, &own->grant));
}

static void release(void *self) {
    held *own = self;
    check("release", fencepost_release(own->grant));
    fencepost_grant_free(own->grant);
}

static void end(void *self) {
    held *own = self;
    fencepost_lock_free(own->lock);
    check("close", fencepost_close(client));
    fencepost_client_free(client);
    given_close();
}

/* The kinds of locks. A semaphore has one permit. */
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

static lock open_lock(const char *name, const fencepost_options *options) {
    held *own = calloc(1, sizeof *own);
    if (!own)
        fail(name, "out of memory");
    check(name, fencepost_lock_open(client, name, options, &own->lock));
    return (lock){acquire, release, end, NULL, own};
}

static lock another(const char *name) {
    return open_lock(name, of_kind("fencepost"));
}

int main(int argc, char **argv) {
    if (argc != 4)
        fail("usage", "worker many-fencepost|fencepost[-given|-read|-write|-semaphore|-operation] URL LOCK");
    int given = strcmp(argv[1], "fencepost-given") == 0;
    check(argv[2], (given ? given_open : fencepost_connect)(argv[2], &client));
    if (strcmp(argv[1], "many-fencepost") == 0)
        return serve_many(another, argv[3]);
    if (strcmp(argv[1], "fencepost-operation") == 0) {
        lock operation = ours_operation(client, argv[2], argv[3]);
        return serve(&operation);
    }
    lock l = open_lock(argv[3], of_kind(argv[1]));
    return serve(&l);
}
