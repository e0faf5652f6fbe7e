/* Control over memory:NAME, and its effects on clients. */
#include <fencepost-testing.h>

#include "support.h"

struct pair {
    fencepost_memory_server *server;
    fencepost_client *holder, *other;
};

static struct pair pair_of(const char *name) {
    struct pair pair = {NULL, client_of(name), client_of(name)};

    CHECK_RESULT(fencepost_memory_server_open(name, &pair.server), FENCEPOST_OK);
    return pair;
}

static void pair_free(struct pair *pair) {
    close_client(pair->holder);
    close_client(pair->other);
    fencepost_memory_server_free(pair->server);
}

/* A copy of the server's report of a client. */
static fencepost_memory_session session_of(const struct pair *pair, const fencepost_client *client) {
    fencepost_memory_report *report = NULL;
    const fencepost_memory_session *one;
    fencepost_memory_session found = {0, 0, FENCEPOST_MEMORY_STATE_CONNECTED, false};
    uint64_t hub = 0;
    size_t i;

    CHECK_RESULT(fencepost_memory_server_hub(pair->server, client, &hub), FENCEPOST_OK);
    CHECK_RESULT(fencepost_memory_server_report(pair->server, 0, &report), FENCEPOST_OK);
    for (i = 0; (one = fencepost_memory_report_session(report, i)) != NULL; i++) {
        if (one->hub == hub)
            found = *one;
    }
    fencepost_memory_report_free(report);
    CHECK(found.hub == hub);
    return found;
}

static void an_expired_session_passes_the_lock_on(void) {
    struct pair pair = pair_of("memory:expired");
    fencepost_grant *first = hold(pair.holder, "stock"), *second = NULL;
    fencepost_lock *lock = lock_with(pair.other, "stock", NULL);
    fencepost_attempt *waiting = NULL;
    int64_t before = session_of(&pair, pair.holder).session;

    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &waiting), FENCEPOST_OK);
    CHECK_RESULT(fencepost_attempt_finish(waiting, &second), FENCEPOST_RESULT_PENDING);
    CHECK_RESULT(fencepost_memory_server_expire(pair.server, pair.holder), FENCEPOST_OK);
    CHECK_RESULT(fencepost_grant_wait_lost(first, LONG), FENCEPOST_RESULT_SESSION_EXPIRED);
    CHECK_RESULT(fencepost_attempt_finish(waiting, &second), FENCEPOST_OK);
    CHECK(fencepost_grant_fence(second) > fencepost_grant_fence(first));
    CHECK(session_of(&pair, pair.holder).session != before);
    CHECK(session_of(&pair, pair.holder).state == FENCEPOST_MEMORY_STATE_CONNECTED);
    fencepost_attempt_free(waiting);
    fencepost_lock_free(lock);
    fencepost_grant_free(first);
    let_go(second);
    pair_free(&pair);
}

static void a_suspended_client_keeps_its_grant(void) {
    struct pair pair = pair_of("memory:suspended");
    fencepost_grant *grant = hold(pair.holder, "stock"), *none = NULL;

    CHECK_RESULT(fencepost_memory_server_suspend(pair.server, pair.holder), FENCEPOST_OK);
    CHECK(session_of(&pair, pair.holder).state == FENCEPOST_MEMORY_STATE_SUSPENDED);
    CHECK_RESULT(fencepost_try_acquire(pair.other, "stock", &none), FENCEPOST_RESULT_NOT_AVAILABLE);
    CHECK_RESULT(fencepost_memory_server_reconnect(pair.server, pair.holder), FENCEPOST_OK);
    let_go(grant);
    CHECK_RESULT(fencepost_memory_server_suspend(pair.server, pair.holder), FENCEPOST_OK);
    CHECK_RESULT(fencepost_memory_server_expire(pair.server, pair.holder), FENCEPOST_OK);
    CHECK(session_of(&pair, pair.holder).state == FENCEPOST_MEMORY_STATE_EXPIRED);
    CHECK_RESULT(fencepost_memory_server_reconnect(pair.server, pair.holder), FENCEPOST_OK);
    let_go(hold(pair.holder, "stock"));
    pair_free(&pair);
}

static void a_paused_holder_believes_in_its_grant(void) {
    struct pair pair = pair_of("memory:paused");
    fencepost_grant *late = hold(pair.holder, "stock"), *next;

    CHECK_RESULT(fencepost_memory_server_pause(pair.server, pair.holder), FENCEPOST_OK);
    CHECK_RESULT(fencepost_memory_server_expire(pair.server, pair.holder), FENCEPOST_OK);
    CHECK(session_of(&pair, pair.holder).paused);
    next = hold(pair.other, "stock");
    CHECK(fencepost_grant_is_valid(late));
    CHECK(fencepost_grant_fence(late) < fencepost_grant_fence(next));
    CHECK_RESULT(fencepost_memory_server_resume(pair.server, pair.holder), FENCEPOST_OK);
    CHECK_RESULT(fencepost_grant_wait_lost(late, LONG), FENCEPOST_RESULT_SESSION_EXPIRED);
    fencepost_grant_free(late);
    let_go(next);
    pair_free(&pair);
}

static void a_paused_client_closes(void) {
    struct pair pair = pair_of("memory:closing");
    fencepost_grant *grant = hold(pair.holder, "stock");
    uint64_t hub;

    CHECK_RESULT(fencepost_memory_server_pause(pair.server, pair.holder), FENCEPOST_OK);
    CHECK_RESULT(fencepost_close(pair.holder), FENCEPOST_OK);
    let_go(hold(pair.other, "stock"));
    CHECK_RESULT(fencepost_memory_server_hub(pair.server, pair.holder, &hub), FENCEPOST_RESULT_CLIENT_CLOSED);
    CHECK_RESULT(fencepost_memory_server_resume(pair.server, pair.holder), FENCEPOST_RESULT_CLIENT_CLOSED);
    fencepost_grant_free(grant);
    pair_free(&pair);
}

static void a_session_timeout_is_the_clients_own(void) {
    fencepost_client *client = client_of("memory:short?session_timeout=300");
    fencepost_memory_server *server = NULL;
    fencepost_grant *grant = hold(client, "stock");

    CHECK_RESULT(fencepost_memory_server_open("memory:short", &server), FENCEPOST_OK);
    CHECK_RESULT(fencepost_memory_server_suspend(server, client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_LEASE_ENDED);
    CHECK_RESULT(fencepost_memory_server_reconnect(server, client), FENCEPOST_OK);
    fencepost_grant_free(grant);
    close_client(client);
    fencepost_memory_server_free(server);
}

static void a_server_tells_what_it_has_and_what_was_sent(void) {
    struct pair pair = pair_of("memory:reported");
    fencepost_memory_report *report = NULL;
    const fencepost_memory_node *node;
    const fencepost_message *message, *created = NULL;
    uint64_t hub = 0;
    size_t i, own = 0;
    fencepost_grant *grant;

    CHECK_RESULT(fencepost_memory_server_record(pair.server, true), FENCEPOST_OK);
    grant = hold(pair.holder, "stock");
    CHECK_RESULT(fencepost_memory_server_hub(pair.server, pair.holder, &hub), FENCEPOST_OK);
    CHECK_RESULT(fencepost_memory_server_report(pair.server, 0, &report), FENCEPOST_OK);
    for (i = 0; (node = fencepost_memory_report_node(report, i)) != NULL; i++) {
        if (node->hub == hub)
            own += node->path.size > 7 && memcmp(node->path.data, "/stock/", 7) == 0;
    }
    CHECK(own == 1);
    for (i = 0; (message = fencepost_memory_report_message(report, i)) != NULL; i++) {
        if (message->name.size == 7 && memcmp(message->name.data, "created", 7) == 0)
            created = message;
    }
    NEED(created != NULL);
    CHECK(created->kind == FENCEPOST_MESSAGE_KIND_REPLY && created->hub == hub && created->path_count == 1);
    CHECK(strcmp(fencepost_message_kind_name(created->kind), "reply") == 0);
    CHECK(fencepost_memory_report_session(report, 2) == NULL);
    fencepost_memory_report_free(report);
    let_go(grant);
    pair_free(&pair);
}

static void bad_input(void) {
    struct pair pair = pair_of("memory:bad");
    fencepost_client *foreign = client_of("memory:");
    fencepost_memory_server *none = NULL;
    fencepost_memory_report *report = NULL;
    uint64_t hub;

    CHECK_FAULT(fencepost_memory_server_open("memory:", &none), FENCEPOST_RESULT_INVALID_URL, "memory:NAME");
    CHECK_FAULT(fencepost_memory_server_open("redis://localhost", &none), FENCEPOST_RESULT_INVALID_URL, "memory:NAME");
    CHECK_RESULT(fencepost_memory_server_open("memory:a/b", &none), FENCEPOST_RESULT_INVALID_URL);
    CHECK_RESULT(fencepost_memory_server_open(NULL, &none), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_memory_server_open("memory:a", NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_FAULT(fencepost_memory_server_hub(pair.server, foreign, &hub), FENCEPOST_RESULT_INVALID_OPTION, "memory:bad");
    CHECK_RESULT(fencepost_memory_server_expire(NULL, pair.holder), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_memory_server_expire(pair.server, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_memory_server_record(NULL, true), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_memory_server_report(pair.server, 0, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_memory_server_report(NULL, 0, &report), FENCEPOST_RESULT_NULL_POINTER);
    CHECK(fencepost_memory_report_message(NULL, 0) == NULL);
    fencepost_memory_server_free(NULL);
    close_client(foreign);
    pair_free(&pair);
}

int main(void) {
    TEST(an_expired_session_passes_the_lock_on);
    TEST(a_suspended_client_keeps_its_grant);
    TEST(a_paused_holder_believes_in_its_grant);
    TEST(a_paused_client_closes);
    TEST(a_session_timeout_is_the_clients_own);
    TEST(a_server_tells_what_it_has_and_what_was_sent);
    TEST(bad_input);
    return check_close();
}
