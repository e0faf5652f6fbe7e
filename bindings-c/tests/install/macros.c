/* Every public macro. The test compiles this file as C99 and as C++11 to C++20, and runs it. */
#include <fencepost-client.h>
#include <fencepost-driver.h>
#include <fencepost-redis.h>
#include <fencepost-zookeeper.h>
#include <stdio.h>

#if !defined(__cplusplus) || __cplusplus >= 202002L
#define HAS_NAMED_OPTIONS 1
#else
#define HAS_NAMED_OPTIONS 0
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool forked;
FENCEPOST_FORK_SAFE(mutex, forked = true)

static bool numbers_are_right(void) {
    const int flags[] = {
        FENCEPOST_FLAG_EPHEMERAL_SEQUENTIAL, FENCEPOST_FLAG_CONTAINER, FENCEPOST_FLAG_WATCH, FENCEPOST_FLAG_EPHEMERAL};
    int all = 0;
    size_t i;

    for (i = 0; i < sizeof flags / sizeof flags[0]; i++)
        all |= flags[i];
    return all == 15 && FENCEPOST_ANY_VERSION == -1 && FENCEPOST_ALL == 0 && FENCEPOST_NEVER == UINT64_MAX &&
           FENCEPOST_VERSION == fencepost_version() && FENCEPOST_SELF_DRIVEN != FENCEPOST_OWNER_DRIVEN &&
           FENCEPOST_SOURCES > 0 && FENCEPOST_REPLAYED == FENCEPOST_RESULT_REPLAYED && !forked;
}

static fencepost_result acquire(fencepost_client *client, fencepost_grant **grant) {
#if HAS_NAMED_OPTIONS
    return fencepost_acquire_with(
        client, "presses", FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = 3), FENCEPOST_FOREVER, grant);
#else
    return fencepost_acquire(client, "presses", FENCEPOST_FOREVER, grant);
#endif
}

static fencepost_result open_operations(fencepost_client *client, fencepost_idempotency **operations) {
#if HAS_NAMED_OPTIONS
    return fencepost_idempotency_open(
        client, "payments", FENCEPOST_IDEMPOTENCY_OPTIONS(.retention = 60000), operations);
#else
    return fencepost_idempotency_open(client, "payments", NULL, operations);
#endif
}

int main(void) {
    fencepost_client *client = NULL;
    fencepost_grant *grant = NULL, *claim = NULL;
    fencepost_idempotency *operations = NULL;
    char key[FENCEPOST_DERIVED_SIZE];
    bool right = numbers_are_right() && fencepost_connect("memory:", &client) == FENCEPOST_OK &&
                 acquire(client, &grant) == FENCEPOST_OK && fencepost_release(grant) == FENCEPOST_OK &&
                 open_operations(client, &operations) == FENCEPOST_OK &&
                 fencepost_claim(operations, "order-17", NULL, 0, 0, &claim) == FENCEPOST_OK &&
                 fencepost_claim_derive(claim, "charge", key) == FENCEPOST_OK && key[sizeof key - 1] == '\0' &&
                 fencepost_complete(claim, "receipt", 7) == FENCEPOST_OK;

    puts(right ? "all macros are right" : fencepost_detail());
    fencepost_grant_free(grant);
    fencepost_grant_free(claim);
    fencepost_idempotency_free(operations);
    fencepost_client_free(client);
    return right ? 0 : 1;
}
