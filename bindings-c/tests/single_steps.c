/* Single steps on a real Redis, and wrong uses of idempotent operations. */
#include "idempotency.h"

static void tokens_are_consumed_once(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *forms = scope_with(client, NULL);
    const char *token = new_name("token");
    fencepost_grant *claim = NULL;

    CHECK_RESULT(fencepost_consume(forms, token, "me", 2, PRINT, 0, &claim), FENCEPOST_RESULT_UNKNOWN_TOKEN);
    CHECK_RESULT(fencepost_issue(forms, token, "me", 2, 0), FENCEPOST_OK);
    CHECK_RESULT(fencepost_issue(forms, token, "me", 2, 0), FENCEPOST_RESULT_MISMATCH);
    CHECK_RESULT(fencepost_consume(forms, token, "you", 3, PRINT, 0, &claim), FENCEPOST_RESULT_MISMATCH);
    CHECK_RESULT(fencepost_consume(forms, token, "me", 2, PRINT, 0, &claim), FENCEPOST_OK);
    CHECK_RESULT(fencepost_complete(claim, "sent", 4), FENCEPOST_OK);
    fencepost_grant_free(claim);
    CHECK_RESULT(fencepost_consume(forms, token, "me", 2, PRINT, 0, &claim), FENCEPOST_REPLAYED);
    has_result(claim, "sent", 4);
    fencepost_grant_free(claim);
    CHECK_RESULT(fencepost_issue(forms, new_name("short"), NULL, 0, -1), FENCEPOST_RESULT_NOT_POSITIVE);
    fencepost_idempotency_free(forms);
    close_client(client);
}

static void values_are_updated_once(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *stock = scope_with(client, NULL);
    const char *key = new_name("value");
    fencepost_record *record = NULL;

    CHECK_RESULT(fencepost_look(stock, key, &record), FENCEPOST_OK);
    CHECK(record == NULL);
    CHECK_RESULT(fencepost_update(stock, key, "one", 3, PRINT, NULL, "7", 1, &record), FENCEPOST_RESULT_CONFLICT);
    CHECK(record == NULL);
    CHECK_RESULT(fencepost_update(stock, key, "one", 0, PRINT, "count", "7", 1, &record), FENCEPOST_OK);
    CHECK(record != NULL && record->version == 1);
    fencepost_record_free(record);
    CHECK_RESULT(fencepost_update(stock, key, "one", 0, PRINT, "count", "7", 1, &record), FENCEPOST_REPLAYED);
    CHECK(record != NULL && record->version == 1);
    fencepost_record_free(record);
    CHECK_RESULT(fencepost_update(stock, key, "two", 0, PRINT, "count", "8", 1, &record), FENCEPOST_RESULT_CONFLICT);
    CHECK(is_record(record, "count", "7") && record->state == FENCEPOST_RECORD_STATE_VALUE && record->version == 1);
    fencepost_record_free(record);
    CHECK_RESULT(fencepost_update(stock, key, "two", 1, PRINT, NULL, "8", 1, NULL), FENCEPOST_OK);
    CHECK_RESULT(fencepost_look(stock, key, &record), FENCEPOST_OK);
    CHECK(is_record(record, "", "8") && record->version == 2 && record->guard == 2);
    fencepost_record_free(record);
    fencepost_record_free(NULL);
    fencepost_idempotency_free(stock);
    close_client(client);
}

static void operators_settle_and_forget(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *unsure =
        scope_with(client, FENCEPOST_IDEMPOTENCY_OPTIONS(.on_lease_end = FENCEPOST_POLICY_INDETERMINATE));
    const char *key = new_name("settled");
    fencepost_grant *claim = claim_of(unsure, key);
    fencepost_record *record = NULL;
    uint64_t guard;

    CHECK_RESULT(fencepost_leave(claim), FENCEPOST_OK);
    fencepost_grant_free(claim);
    CHECK_RESULT(fencepost_look(unsure, key, &record), FENCEPOST_OK);
    NEED(record != NULL);
    guard = record->guard;
    CHECK(record->state == FENCEPOST_RECORD_STATE_RUNNING && record->policy == FENCEPOST_POLICY_INDETERMINATE);
    CHECK(record->attempt.size > 32 && record->fence == guard);
    fencepost_record_free(record);
    CHECK_RESULT(fencepost_settle(unsure, key, guard + 1, NULL, "paid", 4), FENCEPOST_RESULT_RECORD_CHANGED);
    CHECK_RESULT(fencepost_settle(unsure, key, guard, "text", "paid", 4), FENCEPOST_OK);
    CHECK_RESULT(fencepost_register(unsure, key, NULL, 0, PRINT, NULL, "x", 1, &record), FENCEPOST_REPLAYED);
    CHECK(is_record(record, "text", "paid"));
    CHECK(record->guard != guard);
    CHECK_RESULT(fencepost_forget(unsure, key, guard), FENCEPOST_RESULT_RECORD_CHANGED);
    CHECK_RESULT(fencepost_forget(unsure, key, record->guard), FENCEPOST_OK);
    fencepost_record_free(record);
    CHECK_RESULT(fencepost_register(unsure, key, NULL, 0, PRINT, NULL, "x", 1, &record), FENCEPOST_OK);
    CHECK(is_record(record, "", "x"));
    fencepost_record_free(record);
    fencepost_idempotency_free(unsure);
    close_client(client);
}

static void steps_of_an_operation_have_keys(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *payments = scope_with(client, NULL);
    char one[FENCEPOST_DERIVED_SIZE], other[FENCEPOST_DERIVED_SIZE];
    fencepost_grant *claim = claim_of(payments, new_name("derived")), *lock = hold(client, new_name("lock"));

    fencepost_idempotency_free(payments);
    CHECK_RESULT(fencepost_claim_derive(claim, "charge", one), FENCEPOST_OK);
    CHECK_RESULT(fencepost_claim_derive(claim, "mail", other), FENCEPOST_OK);
    CHECK(strlen(one) == 32 && strcmp(one, other) != 0);
    CHECK_RESULT(fencepost_claim_derive(lock, "mail", other), FENCEPOST_RESULT_NOT_A_CLAIM);
    CHECK_RESULT(fencepost_claim_derive(claim, NULL, other), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_claim_derive(NULL, "mail", other), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_complete(claim, NULL, 0), FENCEPOST_OK);
    fencepost_grant_free(claim);
    let_go(lock);
    close_client(client);
}

static void bad_requests_are_refused(void) {
    static uint8_t large[1000001];
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *payments = scope_with(client, NULL);
    const char *key = new_name("bad");
    fencepost_grant *claim = NULL, *lock = hold(client, new_name("lock"));
    const void *bytes;
    size_t size;

    CHECK_RESULT(fencepost_claim(NULL, key, PRINT, 0, &claim), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_claim(payments, NULL, PRINT, 0, &claim), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_claim(payments, key, PRINT, 0, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_claim(payments, key, NULL, 5, 0, &claim), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_claim_start(payments, key, PRINT, 0, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_FAULT(fencepost_claim(payments, "", PRINT, 0, &claim), FENCEPOST_RESULT_INVALID_OPTION, "key is");
    CHECK_RESULT(fencepost_claim(payments, key, PRINT, -1, &claim), FENCEPOST_RESULT_NOT_POSITIVE);
    CHECK_RESULT(fencepost_look(NULL, key, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_look_start(payments, key, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_update(payments, key, NULL, 0, PRINT, NULL, NULL, 0, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK(claim == NULL);

    CHECK_RESULT(fencepost_complete(lock, NULL, 0), FENCEPOST_RESULT_NOT_A_CLAIM);
    CHECK_RESULT(fencepost_leave(lock), FENCEPOST_RESULT_NOT_A_CLAIM);
    CHECK_RESULT(fencepost_complete(NULL, NULL, 0), FENCEPOST_RESULT_NULL_POINTER);
    let_go(lock);

    /* Refused calls send nothing, and do not end the claim. */
    claim = claim_of(payments, key);
    CHECK_FAULT(fencepost_complete(claim, large, sizeof large), FENCEPOST_RESULT_INVALID_OPTION, "1000000");
    CHECK_RESULT(fencepost_complete(claim, NULL, 1), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_complete_with(claim, "\xff", NULL, 0), FENCEPOST_RESULT_BAD_ARGUMENT);
    CHECK_RESULT(fencepost_downgrade(claim), FENCEPOST_RESULT_NOT_A_WRITER);
    CHECK_RESULT(fencepost_claim_result(claim, &bytes, &size), FENCEPOST_RESULT_NOT_HELD);
    CHECK_RESULT(fencepost_claim_result(claim, NULL, &size), FENCEPOST_RESULT_NULL_POINTER);
    CHECK(fencepost_claim_tag(claim) == NULL && fencepost_claim_tag(NULL) == NULL);
    CHECK(fencepost_grant_is_valid(claim));
    CHECK_RESULT(fencepost_complete(claim, large, sizeof large - 1), FENCEPOST_OK);
    has_result(claim, large, sizeof large - 1);
    fencepost_grant_free(claim);
    fencepost_idempotency_free(payments);
    fencepost_idempotency_free(NULL);
    close_client(client);
}

static void a_record_that_cannot_be_read_stays(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *payments = scope_with(client, NULL);
    const char *key = strrchr(new_name("corrupt"), '/') + 1; /* a part that is the same in a Redis key */
    fencepost_grant *claim = NULL;
    redisReply *reply = redis("HSET fencepost:{c-tests/%s} format 99 state done", key);

    freeReplyObject(reply);
    CHECK_RESULT(fencepost_claim(payments, key, PRINT, 0, &claim), FENCEPOST_RESULT_CORRUPT_RECORD);
    reply = redis("DEL fencepost:{c-tests/%s}", key);
    freeReplyObject(reply);
    fencepost_idempotency_free(payments);
    close_client(client);
}

static void options_are_checked(void) {
    fencepost_client *client = client_of(url(REDIS, "")), *memory = client_of("memory:");
    fencepost_idempotency *none = NULL;
    fencepost_idempotency_options all = {
        .size = sizeof all,
        .lease = 30000,
        .retention = 30000,
        .margin = 5,
        .poll = 50,
        .answer_within = 1000,
        .on_lease_end = FENCEPOST_POLICY_BLOCK,
        .without_renewal = true,
    };
    fencepost_idempotency_options unsized = {.size = 0}, later = {.size = sizeof later, .reserved = {0, 0, 1}};
    const struct {
        const fencepost_idempotency_options *options;
        int expected;
        const char *words;
    } rows[] = {
        {FENCEPOST_IDEMPOTENCY_OPTIONS(.lease = 4), FENCEPOST_RESULT_LEASE_TOO_SHORT, "give at least 6 ms"},
        {FENCEPOST_IDEMPOTENCY_OPTIONS(.retention = -1), FENCEPOST_RESULT_NOT_POSITIVE, "retention is -1 ms"},
        {FENCEPOST_IDEMPOTENCY_OPTIONS(.margin = 20000), FENCEPOST_RESULT_LEASE_TOO_SHORT, ""},
        {FENCEPOST_IDEMPOTENCY_OPTIONS(.poll = -1), FENCEPOST_RESULT_NOT_POSITIVE, "poll is -1 ms"},
        {FENCEPOST_IDEMPOTENCY_OPTIONS(.answer_within = -1), FENCEPOST_RESULT_NOT_POSITIVE, "answer_within is -1 ms"},
        {FENCEPOST_IDEMPOTENCY_OPTIONS(.on_lease_end = (fencepost_policy)9), FENCEPOST_RESULT_INVALID_OPTION, "9"},
        {&unsized, FENCEPOST_RESULT_BAD_ARGUMENT, "size"},
        {&later, FENCEPOST_RESULT_UNKNOWN_OPTION, "newer"},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_FAULT(
            fencepost_idempotency_open(client, "c-tests", rows[i].options, &none), rows[i].expected, rows[i].words);
    CHECK_FAULT(fencepost_idempotency_open(client, "", NULL, &none), FENCEPOST_RESULT_INVALID_OPTION, "scope is");
    CHECK_RESULT(fencepost_idempotency_open(client, NULL, NULL, &none), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_idempotency_open(client, "x", NULL, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_idempotency_open(NULL, "x", NULL, &none), FENCEPOST_RESULT_NULL_POINTER);
    CHECK(none == NULL);
    CHECK_RESULT(fencepost_idempotency_open(memory, "c-tests", &all, &none), FENCEPOST_OK);
    fencepost_idempotency_free(none);
    close_client(client);
    CHECK_RESULT(fencepost_idempotency_open(NULL, "c-tests", NULL, &none), FENCEPOST_RESULT_NULL_POINTER);
    close_client(memory);
}

int main(void) {
    if (address(REDIS) == NULL) {
        printf("no Redis\n");
        return 1;
    }
    TEST(tokens_are_consumed_once);
    TEST(values_are_updated_once);
    TEST(operators_settle_and_forget);
    TEST(steps_of_an_operation_have_keys);
    TEST(bad_requests_are_refused);
    TEST(a_record_that_cannot_be_read_stays);
    TEST(options_are_checked);
    return check_close();
}
