/* Several ends of one claim, at the same time and one after the other, on a real Redis. */
#include <pthread.h>

#include "idempotency.h"
#include "relay.h"

/* Two threads complete one claim. */
struct pair {
    fencepost_grant *claim;
    pthread_barrier_t together;
    const char *results[2];
    fencepost_result got[2];
};

struct half {
    struct pair *pair;
    int number;
};

static void *complete_half(void *self) {
    struct half *half = self;
    struct pair *pair = half->pair;
    const char *result = pair->results[half->number];

    pthread_barrier_wait(&pair->together);
    pair->got[half->number] = fencepost_complete(pair->claim, result, strlen(result));
    return NULL;
}

static void complete_both(fencepost_idempotency *payments, const char *first, const char *second, struct pair *pair) {
    struct half halves[2] = {{pair, 0}, {pair, 1}};
    pthread_t threads[2];
    int i;

    pair->claim = claim_of(payments, new_name("pair"));
    pair->results[0] = first;
    pair->results[1] = second;
    pthread_barrier_init(&pair->together, NULL, 2);
    for (i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, complete_half, &halves[i]);
    for (i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&pair->together);
}

static void a_completion_is_continued_with_its_own_result_only(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_idempotency *payments = scope_with(client, NULL);
    fencepost_grant *claim = claim_of(payments, new_name("two"));

    CHECK_RESULT(fencepost_complete_start(claim, "text", "one", 3), FENCEPOST_OK);
    CHECK_FAULT(fencepost_complete_with(claim, "text", "two", 3), FENCEPOST_RESULT_NOT_HELD, "another result");
    CHECK_RESULT(fencepost_complete(claim, "one", 3), FENCEPOST_RESULT_NOT_HELD); /* it has another tag */
    CHECK_RESULT(fencepost_complete_start(claim, "text", "one", 2), FENCEPOST_RESULT_NOT_HELD);
    CHECK_RESULT(fencepost_complete_start(claim, "text", "one", 3), FENCEPOST_OK);
    CHECK_RESULT(fencepost_complete_with(claim, "text", "one", 3), FENCEPOST_OK);
    CHECK_RESULT(fencepost_complete_with(claim, "text", "one", 3), FENCEPOST_RESULT_NOT_HELD);
    has_result(claim, "one", 3);
    fencepost_grant_free(claim);

    /* The server has replied, and no call has returned the reply yet. */
    claim = claim_of(payments, new_name("answered"));
    CHECK_RESULT(fencepost_complete_start(claim, NULL, "one", 3), FENCEPOST_OK);
    EVENTUALLY(fencepost_grant_loss(claim) == FENCEPOST_OK && fencepost_claim_tag(claim) != NULL);
    CHECK_RESULT(fencepost_complete(claim, "two", 3), FENCEPOST_RESULT_NOT_HELD);
    CHECK_RESULT(fencepost_complete(claim, "one", 3), FENCEPOST_OK);
    has_result(claim, "one", 3);
    fencepost_grant_free(claim);
    fencepost_idempotency_free(payments);
    close_client(client);
}

static void of_two_threads_with_two_results_one_succeeds(void) {
    struct relay *relay = relay_open("127.0.0.1", address(REDIS));
    fencepost_client *client = client_of(url_of("redis://", relay_address(relay), ""));
    fencepost_idempotency *payments = scope_with(client, NULL);
    struct pair pair;
    int i;

    relay_delay(relay, 20); /* so that both threads call before the server's reply */
    for (i = 0; i < 20 && check_broken == 0; i++) {
        complete_both(payments, "one", "two", &pair);
        CHECK((pair.got[0] == FENCEPOST_OK) != (pair.got[1] == FENCEPOST_OK));
        CHECK(pair.got[0] == FENCEPOST_RESULT_NOT_HELD || pair.got[1] == FENCEPOST_RESULT_NOT_HELD);
        has_result(pair.claim, pair.got[0] == FENCEPOST_OK ? "one" : "two", 3);
        fencepost_grant_free(pair.claim);
    }
    fencepost_idempotency_free(payments);
    close_client(client);
    relay_close(relay);
}

/* Both threads get the server's reply, unless one of them calls after the other one has returned. */
static void two_threads_with_one_result_succeed(void) {
    struct relay *relay = relay_open("127.0.0.1", address(REDIS));
    fencepost_client *client = client_of(url_of("redis://", relay_address(relay), ""));
    fencepost_idempotency *payments = scope_with(client, NULL);
    bool both = false;
    struct pair pair;
    int i;

    relay_delay(relay, 20);
    for (i = 0; i < 50 && !both && check_broken == 0; i++) {
        complete_both(payments, "one", "one", &pair);
        both = pair.got[0] == FENCEPOST_OK && pair.got[1] == FENCEPOST_OK;
        CHECK(pair.got[0] == FENCEPOST_OK || pair.got[0] == FENCEPOST_RESULT_NOT_HELD);
        CHECK(pair.got[0] == FENCEPOST_OK || pair.got[1] == FENCEPOST_OK);
        has_result(pair.claim, "one", 3);
        fencepost_grant_free(pair.claim);
    }
    CHECK(both);
    fencepost_idempotency_free(payments);
    close_client(client);
    relay_close(relay);
}

int main(void) {
    if (address(REDIS) == NULL) {
        printf("no Redis\n");
        return 1;
    }
    TEST(a_completion_is_continued_with_its_own_result_only);
    TEST(of_two_threads_with_two_results_one_succeeds);
    TEST(two_threads_with_one_result_succeed);
    return check_close();
}
