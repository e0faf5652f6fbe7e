/* The outcomes of hiredis's replies and errors, row by row. This program is linked with the driver's objects, and
 * records their reports to the hub. */
#include <fencepost-redis.h>
#include <poll.h>

#include "../drivers/redis/internal.h"
#include "loop.h"
#include "support.h"

/* The last outcome, as text. */
static char reply_text[512];
static int gone, confirmed;
/* Whether the hub gets a reply that no script returns. */
static bool mangled;
static const fencepost_reply odd = {.kind = FENCEPOST_REPLY_KIND_INTEGER, .integer = 5};

fencepost_result __real_fencepost_hub_failed(fencepost_hub *hub, uint64_t now, uint64_t id, uint32_t failure);
fencepost_result
__real_fencepost_hub_reply(fencepost_hub *hub, uint64_t now, uint64_t id, const fencepost_reply *reply);
fencepost_result __real_fencepost_hub_gone(fencepost_hub *hub, uint64_t now, uint64_t id);

fencepost_result __wrap_fencepost_hub_failed(fencepost_hub *hub, uint64_t now, uint64_t id, uint32_t failure) {
    snprintf(reply_text, sizeof reply_text, "%s", fencepost_failure_name(failure));
    return __real_fencepost_hub_failed(hub, now, id, failure);
}

static void write_down(const fencepost_reply *reply) {
    size_t used = strlen(reply_text), i;

    switch (reply->kind) {
    case FENCEPOST_REPLY_KIND_NIL:
        snprintf(reply_text + used, sizeof reply_text - used, "nil");
        break;
    case FENCEPOST_REPLY_KIND_INTEGER:
        snprintf(reply_text + used, sizeof reply_text - used, "%" PRId64, reply->integer);
        break;
    case FENCEPOST_REPLY_KIND_BYTES:
    case FENCEPOST_REPLY_KIND_ERROR:
        snprintf(
            reply_text + used, sizeof reply_text - used, "%s%.*s", reply->kind == FENCEPOST_REPLY_KIND_ERROR ? "-" : "",
            (int)reply->bytes.size, (const char *)reply->bytes.data);
        break;
    default:
        snprintf(reply_text + used, sizeof reply_text - used, "[");
        for (i = 0; i < reply->item_count; i++) {
            if (i > 0)
                strcat(reply_text, " ");
            write_down(&reply->items[i]);
        }
        strcat(reply_text, "]");
    }
}

fencepost_result
__wrap_fencepost_hub_reply(fencepost_hub *hub, uint64_t now, uint64_t id, const fencepost_reply *reply) {
    reply_text[0] = '\0';
    write_down(reply);
    confirmed += strcmp(reply_text, "1") == 0; /* a subscription */
    if (mangled)
        reply = &odd;
    return hub == NULL ? FENCEPOST_RESULT_OK : __real_fencepost_hub_reply(hub, now, id, reply);
}

fencepost_result __wrap_fencepost_hub_gone(fencepost_hub *hub, uint64_t now, uint64_t id) {
    gone++;
    return __real_fencepost_hub_gone(hub, now, id);
}

/* ---- replies of every shape ---- */

static redisReply text(int type, char *words) {
    redisReply reply = {0};

    reply.type = type;
    reply.str = words;
    reply.len = strlen(words);
    return reply;
}

static void replies(void) {
    redisReply nil = {0}, number = {0}, array = {0}, inner = {0}, many = {0}, deep[40];
    redisReply string = text(REDIS_REPLY_STRING, "abc"), status = text(REDIS_REPLY_STATUS, "OK");
    redisReply error = text(REDIS_REPLY_ERROR, "NOSCRIPT No matching script.");
    redisReply *items[4] = {&number, &string, &nil, &inner}, *inside[1] = {&status}, *hundred[100], *next[40];
    int i;

    nil.type = REDIS_REPLY_NIL;
    number.type = REDIS_REPLY_INTEGER;
    number.integer = INT64_MIN;
    inner.type = array.type = many.type = REDIS_REPLY_ARRAY;
    inner.elements = 1;
    inner.element = inside;
    array.elements = 4;
    array.element = items;
    for (i = 0; i < 100; i++)
        hundred[i] = &nil;
    many.elements = 100;
    many.element = hundred;
    for (i = 0; i < 40; i++) {
        memset(&deep[i], 0, sizeof deep[i]);
        deep[i].type = i < 39 ? REDIS_REPLY_ARRAY : REDIS_REPLY_NIL;
        deep[i].elements = i < 39 ? 1 : 0;
        next[i] = i < 39 ? &deep[i + 1] : NULL;
        deep[i].element = &next[i];
    }
    reply_give(NULL, 1, &nil);
    CHECK(strcmp(reply_text, "nil") == 0);
    reply_give(NULL, 1, &number);
    CHECK(strcmp(reply_text, "-9223372036854775808") == 0);
    reply_give(NULL, 1, &string);
    CHECK(strcmp(reply_text, "abc") == 0);
    reply_give(NULL, 1, &status);
    CHECK(strcmp(reply_text, "OK") == 0);
    reply_give(NULL, 1, &error);
    CHECK(strcmp(reply_text, "-NOSCRIPT No matching script.") == 0);
    reply_give(NULL, 1, &array);
    CHECK(strcmp(reply_text, "[-9223372036854775808 abc nil [OK]]") == 0);
    reply_give(NULL, 1, &many);
    CHECK(strncmp(reply_text, "[nil nil", 8) == 0 && strlen(reply_text) == 401);
    reply_give(NULL, 1, &deep[0]);
    CHECK(strcmp(reply_text, "unknown") == 0);
}

/* ---- failures ---- */

static void a_refused_connection_is_not_sent(void) {
    fencepost_client *client;
    fencepost_grant *grant;

    CHECK_RESULT(fencepost_redis_connect("redis://127.0.0.1:1", &client), FENCEPOST_OK);
    CHECK_FAULT(fencepost_acquire(client, "x", 50, &grant), FENCEPOST_RESULT_UNREACHABLE, "refused");
    CHECK(strcmp(reply_text, "not-sent") == 0);
    fencepost_client_free(client);
}

static void a_lost_connection_is_unknown(void) {
    const char *place, *proxy = proxy_open("redis-1", &place);
    fencepost_client *client;
    fencepost_attempt *attempt;
    fencepost_grant *grant;
    fencepost_lock *lock;

    CHECK_RESULT(fencepost_redis_connect(url_of("redis://", place, ""), &client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_new(client, new_name("x"), &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire(lock, LONG, &grant), FENCEPOST_OK);
    let_go(grant);
    CHECK(control("held", "proxy-hold %s", proxy) != NULL);
    CHECK(control("total", "proxy-reset %s", proxy) != NULL);
    CHECK(fencepost_client_fd(client) >= 0); /* from now on, only this thread drives the client */
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    EVENTUALLY(atoi(control("total", "proxy-count %s", proxy)) > 0);
    reply_text[0] = '\0';
    CHECK(control("id", "proxy-cut %s", proxy) != NULL);
    EVENTUALLY(fencepost_client_process(client) == FENCEPOST_OK && reply_text[0] != '\0');
    CHECK(strcmp(reply_text, "unknown") == 0);
    CHECK(control("id", "proxy-heal %s", proxy) != NULL && control("id", "proxy-pass %s", proxy) != NULL);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    close_client(client);
    control("id", "proxy-close %s", proxy);
}

static void silence_is_unknown(void) {
    const char *place, *proxy = proxy_open("redis-1", &place);
    fencepost_client *client;
    fencepost_grant *grant;

    CHECK_RESULT(fencepost_redis_connect(url_of("redis://", place, ""), &client), FENCEPOST_OK);
    let_go(hold(client, new_name("x")));
    CHECK(control("held", "proxy-hold %s", proxy) != NULL);
    reply_text[0] = '\0';
    /* Longer than the limit for a reply: the driver then ends the connection, and makes another one. */
    CHECK_RESULT(fencepost_acquire(client, new_name("x"), 6500, &grant), FENCEPOST_RESULT_UNREACHABLE);
    CHECK(strcmp(reply_text, "unknown") == 0);
    CHECK(control("held", "proxy-pass %s", proxy) != NULL);
    let_go(hold(client, new_name("x")));
    close_client(client);
    control("id", "proxy-close %s", proxy);
}

static void an_ended_connection_of_the_owner_is_closed(void) {
    struct loop own;
    fencepost_client *client;
    fencepost_grant *grant;

    NEED(loop_connect(&own, address(REDIS)));
    loop_detach(&own);
    CHECK_RESULT(fencepost_redis_attach(own.context, NULL, &client), FENCEPOST_OK);
    let_go(hold(client, new_name("x")));
    redisAsyncFree(own.context);
    CHECK_RESULT(fencepost_acquire(client, new_name("x"), LONG, &grant), FENCEPOST_RESULT_CONNECTION_CLOSED);
    CHECK(strcmp(reply_text, "closed") == 0);
    close_client(client);
}

/* A held lock, and a waiter with a subscription through a proxy. */
struct listening {
    const char *proxy;
    fencepost_client *mine, *other;
    fencepost_grant *held;
    fencepost_attempt *attempt;
    fencepost_lock *lock;
};

static void listen_behind_a_proxy(struct listening *here) {
    const char *place, *name = new_name("x");

    here->proxy = proxy_open("redis-1", &place);
    here->mine = client_of(url(REDIS, ""));
    here->held = hold(here->mine, name);
    CHECK_RESULT(fencepost_redis_connect(url_of("redis://", place, ""), &here->other), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_new(here->other, name, &here->lock), FENCEPOST_OK);
    gone = confirmed = 0;
    CHECK_RESULT(fencepost_lock_acquire_start(here->lock, FENCEPOST_FOREVER, &here->attempt), FENCEPOST_OK);
    EVENTUALLY(confirmed == 1);
}

/* The holder releases the lock, and the waiter gets it. */
static void hand_over_and_end(struct listening *here) {
    fencepost_grant *grant = NULL;

    let_go(here->held);
    CHECK_RESULT(fencepost_attempt_wait(here->attempt, &grant), FENCEPOST_OK);
    let_go(grant);
    fencepost_attempt_free(here->attempt);
    fencepost_lock_free(here->lock);
    close_client(here->mine);
    close_client(here->other);
    control("id", "proxy-close %s", here->proxy);
}

static void a_lost_subscription_is_gone(void) {
    struct listening here;

    listen_behind_a_proxy(&here);
    CHECK(control("id", "proxy-cut %s", here.proxy) != NULL && control("id", "proxy-heal %s", here.proxy) != NULL);
    EVENTUALLY(gone == 1);
    hand_over_and_end(&here);
}

/* The number of connections with subscriptions whose last command was a PING. */
static int pinging(void) {
    redisReply *reply = redis("CLIENT LIST TYPE pubsub");
    const char *at = reply->str;
    int count = 0;

    while (at != NULL && (at = strstr(at, " cmd=ping")) != NULL) {
        count++;
        at++;
    }
    freeReplyObject(reply);
    return count;
}

/* The connection is open, but nothing arrives: the driver sends a PING, and then ends the connection. */
static void a_silent_subscription_is_gone(void) {
    struct listening here;

    listen_behind_a_proxy(&here);
    /* While the server replies, a quiet subscription stays. */
    EVENTUALLY(pinging() == 1);
    CHECK(gone == 0);
    CHECK(control("id", "proxy-hold %s", here.proxy) != NULL);
    EVENTUALLY(gone == 1);
    CHECK(control("id", "proxy-pass %s", here.proxy) != NULL);
    EVENTUALLY(confirmed == 2);
    hand_over_and_end(&here);
}

/* The number of the connection that last sent a script; 0 if there is none. */
static long scripts_connection(void) {
    redisReply *reply = redis("CLIENT LIST");
    const char *line = reply->str, *command;
    long number = 0;

    for (; line != NULL && *line != '\0'; line = strchr(line, '\n') == NULL ? NULL : strchr(line, '\n') + 1) {
        command = strstr(line, " cmd=eval");
        if (command != NULL && (strchr(line, '\n') == NULL || command < strchr(line, '\n')))
            number = strtol(line + strlen("id="), NULL, 10);
    }
    freeReplyObject(reply);
    return number;
}

static bool is_connected(long number) {
    redisReply *reply = redis("CLIENT LIST ID %ld", number);
    bool found = reply->type != REDIS_REPLY_ERROR && strstr(reply->str, "id=") != NULL;

    freeReplyObject(reply);
    return found;
}

/* The address may now lead to the new primary, so the driver resolves it again for a new connection. */
static void a_replicas_connection_is_given_up(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;
    fencepost_lock *lock;
    long before;

    let_go(hold(client, new_name("x")));
    before = scripts_connection();
    NEED(before > 0 && is_connected(before));
    freeReplyObject(redis("REPLICAOF 127.0.0.1 1"));
    lock = lock_with(client, new_name("x"), NULL);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, FENCEPOST_FOREVER, &attempt), FENCEPOST_OK);
    EVENTUALLY(!is_connected(before));
    freeReplyObject(redis("REPLICAOF NO ONE"));
    CHECK_RESULT(fencepost_attempt_wait(attempt, &grant), FENCEPOST_OK);
    let_go(grant);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    close_client(client);
}

static void an_error_to_a_subscription_is_an_answer(void) {
    fencepost_client *mine = client_of(url(REDIS, "")), *other;
    const char *name = new_name("x");
    fencepost_grant *held = hold(mine, name), *grant = NULL;
    fencepost_attempt *attempt;
    fencepost_lock *lock;

    freeReplyObject(redis("ACL SETUSER c-tests on >pw ~* resetchannels +@all"));
    CHECK_RESULT(fencepost_redis_connect(url_of("redis://c-tests:pw@", address(REDIS), ""), &other), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_new(other, name, &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    EVENTUALLY(strstr(reply_text, "-NOPERM") != NULL);
    /* Without messages, the waiter polls again and again. */
    let_go(held);
    CHECK_RESULT(fencepost_attempt_wait(attempt, &grant), FENCEPOST_OK);
    CHECK(fencepost_release(grant) != FENCEPOST_RESULT_RELEASE_UNCONFIRMED);
    fencepost_grant_free(grant);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    close_client(mine);
    fencepost_client_free(other);
    freeReplyObject(redis("ACL DELUSER c-tests"));
    freeReplyObject(redis("DEL %s", name));
}

static void an_answer_that_fits_no_command_is_told(void) {
    fencepost_client *client;
    fencepost_grant *grant = NULL;

    CHECK_RESULT(fencepost_redis_connect(url(REDIS, ""), &client), FENCEPOST_OK);
    mangled = true;
    CHECK_FAULT(fencepost_acquire(client, new_name("odd"), BRIEF, &grant), FENCEPOST_RESULT_UNREACHABLE, "reply");
    mangled = false;
    close_client(client);
}

int main(void) {
    TEST(replies);
    if (address(REDIS) != NULL) {
        TEST(a_refused_connection_is_not_sent);
        TEST(a_lost_connection_is_unknown);
        TEST(silence_is_unknown);
        TEST(an_ended_connection_of_the_owner_is_closed);
        TEST(a_lost_subscription_is_gone);
        TEST(a_silent_subscription_is_gone);
        TEST(a_replicas_connection_is_given_up);
        TEST(an_error_to_a_subscription_is_an_answer);
        TEST(an_answer_that_fits_no_command_is_told);
    }
    return check_close();
}
