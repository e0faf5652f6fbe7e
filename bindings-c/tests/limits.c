/* The error texts for values out of range, and for calls in the wrong order, on `memory:`. */
#include "idempotency.h"

static void timeouts_are_named_in_the_program_s_unit(void) {
    fencepost_client *client = client_of("memory:");
    fencepost_idempotency *payments = scope_with(client, NULL);
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;
    fencepost_lock *lock = lock_with(client, "stock", NULL);

    CHECK_FAULT(fencepost_acquire(client, "stock", 0, &grant), FENCEPOST_RESULT_NOT_POSITIVE, "timeout is 0 ms");
    CHECK_FAULT(fencepost_acquire(client, "stock", -5, &grant), FENCEPOST_RESULT_NOT_POSITIVE, "timeout is -5 ms");
    CHECK(strstr(fencepost_detail(), "use a try") != NULL);
    CHECK_FAULT(fencepost_lock_acquire_start(lock, -5, &attempt), FENCEPOST_RESULT_NOT_POSITIVE, "timeout is -5 ms");
    CHECK_RESULT(fencepost_acquire(client, "stock", INT64_MIN, &grant), FENCEPOST_RESULT_NOT_POSITIVE);
    CHECK_FAULT(
        fencepost_claim(payments, "order", PRINT, -7, &grant), FENCEPOST_RESULT_NOT_POSITIVE, "timeout is -7 ms");
    CHECK(strstr(fencepost_detail(), "use a try") == NULL && strstr(fencepost_detail(), "0 does not wait") != NULL);
    CHECK_FAULT(
        fencepost_consume_start(payments, "token", NULL, 0, PRINT, -7, &attempt), FENCEPOST_RESULT_NOT_POSITIVE,
        "timeout is -7 ms");
    CHECK(grant == NULL && attempt == NULL);
    let_go(hold(client, "stock"));
    fencepost_lock_free(lock);
    fencepost_idempotency_free(payments);
    close_client(client);
}

static void all_limits_of_a_multi_lock_are_one(void) {
    fencepost_client *client = client_of("memory:");
    const char *names[300];
    char texts[300][8];
    fencepost_lock *lock = NULL;
    int counts[] = {65, 257, 300};
    int i;

    for (i = 0; i < 300; i++) {
        snprintf(texts[i], sizeof texts[i], "n%d", i);
        names[i] = texts[i];
    }
    for (i = 0; i < 3; i++)
        CHECK_FAULT(
            fencepost_lock_open(
                client, NULL,
                FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .names = names, .name_count = counts[i]), &lock),
            FENCEPOST_RESULT_INVALID_OPTION, "from 1 to 64 names");
    CHECK(strstr(fencepost_detail(), "300 names") != NULL);
    close_client(client);
}

static void what_has_not_begun_has_no_result(void) {
    fencepost_client *client = client_of("memory:");
    fencepost_grant *grant = hold(client, "stock");

    CHECK_FAULT(fencepost_extend_finish(grant), FENCEPOST_RESULT_NOT_HELD, "fencepost_extend_start");
    CHECK_FAULT(fencepost_release_finish(grant), FENCEPOST_RESULT_NOT_HELD, "fencepost_release_start");
    CHECK_FAULT(fencepost_downgrade_finish(grant), FENCEPOST_RESULT_NOT_A_WRITER, "fencepost_downgrade_start");
    CHECK_RESULT(fencepost_extend_start(grant), FENCEPOST_OK);
    EVENTUALLY(fencepost_extend_finish(grant) == FENCEPOST_OK);
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_OK);
    let_go(grant);
    close_client(client);
}

int main(void) {
    TEST(timeouts_are_named_in_the_program_s_unit);
    TEST(all_limits_of_a_multi_lock_are_one);
    TEST(what_has_not_begun_has_no_result);
    return check_close();
}
