/* Sweeps of a scope, on a real ZooKeeper and a real Redis. */
#include "idempotency.h"

static fencepost_idempotency *scope_of(fencepost_client *client, const char *scope, int64_t retention) {
    fencepost_idempotency *idempotency = NULL;

    CHECK_RESULT(
        fencepost_idempotency_open(client, scope, FENCEPOST_IDEMPOTENCY_OPTIONS(.retention = retention), &idempotency),
        FENCEPOST_OK);
    return idempotency;
}

static void release(fencepost_idempotency *of, const char *key) {
    fencepost_grant *claim = claim_of(of, key);

    CHECK_RESULT(fencepost_release(claim), FENCEPOST_OK);
    fencepost_grant_free(claim);
}

static void frees_what_was_released(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, ""));
    const char *scope = new_name("sweep");
    fencepost_idempotency *payments = scope_of(client, scope, 0), *brief = scope_of(client, scope, 1);
    fencepost_record *record = NULL;
    fencepost_step *step = NULL;
    fencepost_grant *running = claim_of(payments, "running");
    uint64_t deleted = 9;

    CHECK_RESULT(fencepost_sweep(payments, &deleted), FENCEPOST_OK);
    CHECK(deleted == 0);
    release(payments, "one");
    release(payments, "two");
    CHECK_RESULT(fencepost_sweep(payments, &deleted), FENCEPOST_OK);
    CHECK(deleted == 2);
    CHECK_RESULT(fencepost_register(brief, "brief", NULL, 0, PRINT, NULL, "x", 1, NULL), FENCEPOST_OK);
    do
        NEED(fencepost_sweep(brief, &deleted) == FENCEPOST_OK);
    while (deleted == 0);
    CHECK(deleted == 1);
    CHECK_RESULT(fencepost_look(payments, "brief", &record), FENCEPOST_OK);
    CHECK(record == NULL);

    release(payments, "three");
    CHECK_RESULT(fencepost_sweep_start(payments, &step), FENCEPOST_OK);
    EVENTUALLY(fencepost_sweep_finish(step, &deleted) != FENCEPOST_RESULT_PENDING);
    CHECK_RESULT(fencepost_sweep_finish(step, &deleted), FENCEPOST_OK);
    CHECK(deleted == 1);
    fencepost_step_free(step);

    CHECK_RESULT(fencepost_sweep(payments, NULL), FENCEPOST_OK);
    CHECK_RESULT(fencepost_complete(running, "y", 1), FENCEPOST_OK);
    fencepost_grant_free(running);
    fencepost_idempotency_free(brief);
    fencepost_idempotency_free(payments);
    close_client(client);
}

static void redis_expires_records_by_itself(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *payments = scope_with(client, NULL);
    fencepost_step *step = NULL;
    uint64_t deleted = 9;

    release(payments, new_name("released"));
    CHECK_RESULT(fencepost_sweep(payments, &deleted), FENCEPOST_OK);
    CHECK(deleted == 0);
    CHECK_RESULT(fencepost_sweep(NULL, &deleted), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_sweep_start(payments, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_sweep_start(NULL, &step), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_sweep_finish(NULL, &deleted), FENCEPOST_RESULT_NULL_POINTER);
    fencepost_idempotency_free(payments);
    close_client(client);
}

int main(void) {
    if (address(REDIS) == NULL || address(ZOOKEEPER) == NULL) {
        printf("no servers\n");
        return 1;
    }
    TEST(frees_what_was_released);
    TEST(redis_expires_records_by_itself);
    return check_close();
}
