/* Operations of fencepost. */
#include "ours_operation.h"

#include <stdlib.h>
#include <string.h>

#include "operation.h"

typedef struct operations {
    fencepost_client *client;
    fencepost_idempotency *scope;
    fencepost_grant *claim;
} operations;

static void check(const char *what, fencepost_result result) {
    if (result != FENCEPOST_OK)
        fail(what, fencepost_detail());
}

static void acquire(void *self) {
    operations *own = self;
    char key[OPERATION_KEY];
    operation_next(key);
    check(
        "claim",
        fencepost_claim(
            own->scope, key, OPERATION_FINGERPRINT, strlen(OPERATION_FINGERPRINT), FENCEPOST_FOREVER, &own->claim));
}

static void release(void *self) {
    operations *own = self;
    check("complete", fencepost_complete_with(own->claim, OPERATION_TAG, operation_result(), OPERATION_RESULT));
    fencepost_grant_free(own->claim);
}

static void end(void *self) {
    operations *own = self;
    fencepost_idempotency_free(own->scope);
    check("close", fencepost_close(own->client));
    fencepost_client_free(own->client);
    free(own);
}

lock ours_operation(fencepost_client *client, const char *url, const char *scope) {
    operations *own = calloc(1, sizeof *own);
    fencepost_idempotency_options options = {.size = sizeof options, .retention = strtol(OPERATION_KEPT, NULL, 10)};
    /* On ZooKeeper a claim lasts as long as its session. */
    if (strncmp(url, "redis", 5) == 0)
        options.lease = options.retention;
    if (!own)
        fail(scope, "out of memory");
    own->client = client;
    check(scope, fencepost_idempotency_open(client, scope, &options, &own->scope));
    return (lock){acquire, release, end, NULL, own};
}
