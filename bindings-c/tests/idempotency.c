/* Claims of idempotent operations, and their ends, on a real Redis. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "idempotency.h"

static void a_result_is_replayed_to_the_byte(void) {
    fencepost_client *client = client_of(url(REDIS, "")), *other = client_of(url(REDIS, ""));
    fencepost_idempotency *payments = scope_with(client, NULL), *again = scope_with(other, NULL);
    const char *key = new_name("bytes");
    fencepost_grant *claim = claim_of(payments, key), *replayed = NULL;
    uint8_t all[256];
    size_t i;

    for (i = 0; i < sizeof all; i++)
        all[i] = (uint8_t)i;
    CHECK(fencepost_claim_fence(claim) > 0 && fencepost_claim_takeovers(claim) == 0);
    CHECK(fencepost_grant_is_valid(claim) && !fencepost_claim_is_replayed(claim));
    CHECK_RESULT(fencepost_extend(claim), FENCEPOST_OK);
    /* A failed `read` returns this size. */
    CHECK_FAULT(fencepost_complete(claim, all, (size_t)-1), FENCEPOST_RESULT_INVALID_OPTION, "1000000 bytes");
    CHECK_RESULT(fencepost_complete_with(claim, "raw", all, sizeof all), FENCEPOST_OK);
    CHECK(!fencepost_grant_is_valid(claim) && !fencepost_grant_is_lost(claim));
    has_result(claim, all, sizeof all);
    CHECK_RESULT(fencepost_complete(claim, NULL, 0), FENCEPOST_RESULT_NOT_HELD);
    CHECK_RESULT(fencepost_release(claim), FENCEPOST_RESULT_NOT_HELD);

    CHECK_RESULT(fencepost_claim(again, key, PRINT, 0, &replayed), FENCEPOST_REPLAYED);
    CHECK(fencepost_claim_is_replayed(replayed) && !fencepost_grant_is_valid(replayed));
    CHECK(strcmp(fencepost_claim_tag(replayed), "raw") == 0);
    has_result(replayed, all, sizeof all);
    CHECK_RESULT(fencepost_leave(replayed), FENCEPOST_RESULT_NOT_HELD);
    close_client(other);
    has_result(replayed, all, sizeof all);
    fencepost_grant_free(claim);
    fencepost_grant_free(replayed);
    fencepost_idempotency_free(payments);
    fencepost_idempotency_free(again);
    close_client(client);
}

static void a_running_operation_is_waited_for(void) {
    fencepost_client *client = client_of(url(REDIS, "")), *other = client_of(url(REDIS, ""));
    fencepost_idempotency *payments = scope_with(client, NULL), *again = scope_with(other, NULL);
    const char *key = new_name("running");
    fencepost_grant *claim = claim_of(payments, key), *waiting = NULL;
    fencepost_attempt *attempt = NULL;

    CHECK_RESULT(fencepost_claim(again, key, PRINT, 0, &waiting), FENCEPOST_RESULT_IN_PROGRESS);
    CHECK(fencepost_retry_after() > 0 && fencepost_retry_after() <= 30000);
    CHECK_RESULT(fencepost_claim(again, key, PRINT, 20, &waiting), FENCEPOST_RESULT_IN_PROGRESS);
    CHECK_RESULT(fencepost_claim(again, key, "other", 5, 0, &waiting), FENCEPOST_RESULT_MISMATCH);
    CHECK(fencepost_retry_after() == -1 && waiting == NULL);
    CHECK_RESULT(fencepost_claim_start(again, key, PRINT, FENCEPOST_FOREVER, &attempt), FENCEPOST_OK);
    EVENTUALLY(fencepost_attempt_finish(attempt, &waiting) == FENCEPOST_RESULT_PENDING);
    CHECK_RESULT(fencepost_complete(claim, "done", 4), FENCEPOST_OK);
    CHECK_RESULT(fencepost_attempt_wait(attempt, &waiting), FENCEPOST_REPLAYED);
    has_result(waiting, "done", 4);
    CHECK_RESULT(fencepost_attempt_wait(attempt, &waiting), FENCEPOST_RESULT_NOT_WAITING);
    fencepost_attempt_free(attempt);
    fencepost_grant_free(waiting);
    fencepost_grant_free(claim);
    fencepost_idempotency_free(payments);
    fencepost_idempotency_free(again);
    close_client(client);
    close_client(other);
}

static void next_is(const char *key, int expected, uint64_t takeovers) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *payments = scope_with(client, NULL);
    fencepost_grant *claim = NULL;

    CHECK_RESULT(fencepost_claim(payments, key, PRINT, 0, &claim), expected);
    CHECK(fencepost_claim_takeovers(claim) == takeovers);
    fencepost_grant_free(claim);
    fencepost_idempotency_free(payments);
    close_client(client);
}

static void each_end_says_what_has_happened(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *retake = scope_with(client, NULL);
    fencepost_idempotency *unsure =
        scope_with(client, FENCEPOST_IDEMPOTENCY_OPTIONS(.on_lease_end = FENCEPOST_POLICY_INDETERMINATE));
    const char *key = new_name("released");
    fencepost_grant *claim = claim_of(unsure, key);

    CHECK_RESULT(fencepost_release(claim), FENCEPOST_OK);
    CHECK_RESULT(fencepost_release(claim), FENCEPOST_RESULT_NOT_HELD);
    fencepost_grant_free(claim);
    next_is(key, FENCEPOST_OK, 0);

    claim = claim_of(retake, key = new_name("left"));
    CHECK_RESULT(fencepost_leave(claim), FENCEPOST_OK);
    fencepost_grant_free(claim);
    next_is(key, FENCEPOST_OK, 1);

    claim = claim_of(unsure, key = new_name("left-unsure"));
    CHECK_RESULT(fencepost_leave(claim), FENCEPOST_OK);
    fencepost_grant_free(claim);
    next_is(key, FENCEPOST_RESULT_INDETERMINATE, 0);
    fencepost_idempotency_free(retake);
    fencepost_idempotency_free(unsure);
    close_client(client);
}

static void a_claim_that_is_dropped_is_left(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *unsure =
        scope_with(client, FENCEPOST_IDEMPOTENCY_OPTIONS(.on_lease_end = FENCEPOST_POLICY_INDETERMINATE));
    const char *freed = new_name("freed"), *closed = new_name("closed");
    fencepost_grant *claim = claim_of(unsure, freed);

    fencepost_grant_free(claim);
    claim = claim_of(unsure, closed);
    CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_grant_loss(claim), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    CHECK_RESULT(fencepost_complete(claim, NULL, 0), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    next_is(freed, FENCEPOST_RESULT_INDETERMINATE, 0);
    next_is(closed, FENCEPOST_RESULT_INDETERMINATE, 0);
    fencepost_grant_free(claim);
    fencepost_idempotency_free(unsure);
    fencepost_client_free(client);
}

static void a_claim_that_nobody_takes_is_released(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *unsure =
        scope_with(client, FENCEPOST_IDEMPOTENCY_OPTIONS(.on_lease_end = FENCEPOST_POLICY_INDETERMINATE));
    const char *key = new_name("untaken");
    fencepost_attempt *attempt = NULL;
    fencepost_record *record = NULL;

    CHECK_RESULT(fencepost_claim_start(unsure, key, PRINT, LONG, &attempt), FENCEPOST_OK);
    do {
        fencepost_record_free(record);
        CHECK_RESULT(fencepost_look(unsure, key, &record), FENCEPOST_OK);
    } while (record == NULL && check_broken == 0);
    CHECK(record != NULL && record->state == FENCEPOST_RECORD_STATE_RUNNING);
    fencepost_attempt_free(attempt);
    fencepost_record_free(record);
    CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
    next_is(key, FENCEPOST_OK, 0);
    fencepost_idempotency_free(unsure);
    fencepost_client_free(client);
}

static void a_lost_claim_may_still_be_ended(void) {
    fencepost_client *client = client_of(url(REDIS, "")), *other = client_of(url(REDIS, ""));
    fencepost_idempotency *brief =
        scope_with(client, FENCEPOST_IDEMPOTENCY_OPTIONS(.lease = 100, .without_renewal = true));
    fencepost_idempotency *payments = scope_with(other, NULL);
    const char *key = new_name("lapsed");
    fencepost_grant *claim = claim_of(brief, key), *next;
    int64_t begun = millis();

    CHECK_RESULT(fencepost_grant_wait_lost(claim, LONG), FENCEPOST_RESULT_LEASE_ENDED);
    CHECK(millis() - begun < LONG);
    CHECK(fencepost_grant_is_lost(claim) && !fencepost_grant_is_valid(claim));
    CHECK_RESULT(fencepost_extend(claim), FENCEPOST_RESULT_LEASE_ENDED);
    CHECK_RESULT(fencepost_complete(claim, "late", 4), FENCEPOST_OK);
    CHECK(!fencepost_grant_is_lost(claim) && fencepost_grant_loss(claim) == FENCEPOST_OK);
    CHECK_RESULT(fencepost_complete(claim, "late", 4), FENCEPOST_RESULT_NOT_HELD);
    fencepost_grant_free(claim);

    /* Another attempt has taken over the operation: the server does not store the result of the old attempt. */
    claim = claim_of(brief, key = new_name("superseded"));
    next = claim_of(payments, key);
    CHECK(fencepost_claim_takeovers(next) == 1 && fencepost_claim_fence(next) > fencepost_claim_fence(claim));
    CHECK_RESULT(fencepost_complete(claim, "stale", 5), FENCEPOST_RESULT_SUPERSEDED);
    CHECK_RESULT(fencepost_release(claim), FENCEPOST_RESULT_SUPERSEDED);
    fencepost_grant_free(claim);
    CHECK_RESULT(fencepost_complete(next, "good", 4), FENCEPOST_OK);
    fencepost_grant_free(next);

    /* The other attempt has already stored a result, and the claim gets that result. */
    claim = claim_of(brief, key = new_name("overtaken"));
    next = claim_of(payments, key);
    CHECK_RESULT(fencepost_complete_with(next, "text", "good", 4), FENCEPOST_OK);
    CHECK_RESULT(fencepost_complete(claim, "stale", 5), FENCEPOST_REPLAYED);
    CHECK(fencepost_claim_is_replayed(claim) && strcmp(fencepost_claim_tag(claim), "text") == 0);
    has_result(claim, "good", 4);
    fencepost_grant_free(claim);
    fencepost_grant_free(next);
    fencepost_idempotency_free(brief);
    fencepost_idempotency_free(payments);
    close_client(client);
    close_client(other);
}

/* The server has another result of the same attempt, and does not overwrite it. */
static void a_refused_end_leaves_the_claim_as_it_was(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *payments = scope_with(client, FENCEPOST_IDEMPOTENCY_OPTIONS(.without_renewal = true));
    const char *key = strrchr(new_name("refused"), '/') + 1; /* a part that is the same in a Redis key */
    fencepost_grant *claim = claim_of(payments, key);

    freeReplyObject(redis("HSET fencepost:{c-tests/%s} state done tag x result x", key));
    CHECK_RESULT(fencepost_complete(claim, "good", 4), FENCEPOST_RESULT_MISMATCH);
    CHECK(fencepost_grant_is_valid(claim) && fencepost_claim_tag(claim) == NULL);
    freeReplyObject(redis("HSET fencepost:{c-tests/%s} state running", key));
    CHECK_RESULT(fencepost_complete(claim, "good", 4), FENCEPOST_OK);
    has_result(claim, "good", 4);
    fencepost_grant_free(claim);
    fencepost_idempotency_free(payments);
    close_client(client);
}

struct crowd {
    fencepost_idempotency *payments;
    const char *key;
    int ran; /* only the holder of the claim changes it */
};

static void *run_once(void *self) {
    struct crowd *crowd = self;
    fencepost_grant *claim = NULL;
    fencepost_result result = fencepost_claim(crowd->payments, crowd->key, PRINT, FENCEPOST_FOREVER, &claim);

    if (result == FENCEPOST_OK) {
        crowd->ran++;
        result = fencepost_complete(claim, "one", 3);
    }
    CHECK(result == FENCEPOST_OK || result == FENCEPOST_REPLAYED);
    has_result(claim, "one", 3);
    fencepost_grant_free(claim);
    return NULL;
}

static void of_many_threads_one_runs_it(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    struct crowd crowd = {scope_with(client, NULL), new_name("threads"), 0};
    pthread_t threads[8];
    size_t i;

    for (i = 0; i < sizeof threads / sizeof *threads; i++)
        pthread_create(&threads[i], NULL, run_once, &crowd);
    for (i = 0; i < sizeof threads / sizeof *threads; i++)
        pthread_join(threads[i], NULL);
    CHECK(crowd.ran == 1);
    fencepost_idempotency_free(crowd.payments);
    close_client(client);
}

static void turn(fencepost_client *client) {
    struct pollfd source = {fencepost_client_fd(client), POLLIN, 0};

    poll(&source, 1, fencepost_client_timeout(client));
    CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
}

static void an_event_loop_asks_step_by_step(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *payments = scope_with(client, NULL);
    const char *key = new_name("loop");
    fencepost_attempt *attempt = NULL;
    fencepost_grant *claim = NULL;
    fencepost_record *record = NULL;
    fencepost_step *step = NULL;
    fencepost_result result;

    CHECK(fencepost_client_fd(client) >= 0);
    CHECK_RESULT(fencepost_issue_start(payments, key, "me", 2, 0, &step), FENCEPOST_OK);
    while ((result = fencepost_step_finish(step, NULL)) == FENCEPOST_RESULT_PENDING)
        turn(client);
    CHECK_RESULT(result, FENCEPOST_OK);
    fencepost_step_free(step);
    CHECK_RESULT(fencepost_consume_start(payments, key, "me", 2, PRINT, LONG, &attempt), FENCEPOST_OK);
    while ((result = fencepost_attempt_finish(attempt, &claim)) == FENCEPOST_RESULT_PENDING)
        turn(client);
    CHECK_RESULT(result, FENCEPOST_OK);
    fencepost_attempt_free(attempt);
    CHECK_RESULT(fencepost_complete_finish(claim), FENCEPOST_RESULT_NOT_HELD);
    CHECK_RESULT(fencepost_complete_start(claim, "text", "done", 4), FENCEPOST_OK);
    CHECK_RESULT(fencepost_leave_start(claim), FENCEPOST_RESULT_NOT_HELD);
    while ((result = fencepost_complete_finish(claim)) == FENCEPOST_RESULT_PENDING)
        turn(client);
    CHECK_RESULT(result, FENCEPOST_OK);
    CHECK_RESULT(fencepost_complete_finish(claim), FENCEPOST_RESULT_NOT_HELD);
    fencepost_grant_free(claim);
    CHECK_RESULT(fencepost_look_start(payments, key, &step), FENCEPOST_OK);
    while ((result = fencepost_step_finish(step, &record)) == FENCEPOST_RESULT_PENDING)
        turn(client);
    CHECK(result == FENCEPOST_OK && is_record(record, "text", "done"));
    fencepost_record_free(record);
    CHECK_RESULT(fencepost_step_finish(step, &record), FENCEPOST_OK);
    CHECK(record == NULL);
    fencepost_step_free(step);
    fencepost_step_free(NULL);
    fencepost_idempotency_free(payments);
    close_client(client);
}

static void a_child_has_no_claims(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *payments = scope_with(client, NULL);
    fencepost_grant *claim = claim_of(payments, new_name("fork")), *other = NULL;
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        bool right = fencepost_complete(claim, NULL, 0) == FENCEPOST_RESULT_WRONG_PROCESS &&
                     fencepost_claim(payments, "x", PRINT, 0, &other) == FENCEPOST_RESULT_WRONG_PROCESS &&
                     !fencepost_claim_is_replayed(claim);

        fencepost_grant_free(claim);
        fencepost_idempotency_free(payments);
        if (right)
            kill(getpid(), SIGKILL); /* skips the cleanup of the parent's objects, also by a memory checker */
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK_RESULT(fencepost_complete(claim, NULL, 0), FENCEPOST_OK);
    fencepost_grant_free(claim);
    fencepost_idempotency_free(payments);
    close_client(client);
}

int main(void) {
    if (address(REDIS) == NULL) {
        printf("no Redis\n");
        return 1;
    }
    TEST(a_result_is_replayed_to_the_byte);
    TEST(a_running_operation_is_waited_for);
    TEST(each_end_says_what_has_happened);
    TEST(a_claim_that_is_dropped_is_left);
    TEST(a_claim_that_nobody_takes_is_released);
    TEST(a_lost_claim_may_still_be_ended);
    TEST(a_refused_end_leaves_the_claim_as_it_was);
    TEST(of_many_threads_one_runs_it);
    TEST(an_event_loop_asks_step_by_step);
    TEST(a_child_has_no_claims);
    return check_close();
}
