/* A failover: the server becomes a replica, and its address leads to another server. The held grant and the waiter move
 * there. */
#include <poll.h>
#include <stdarg.h>

#include "../client/internal.h"
#include "relay.h"
#include "support.h"

/* A poll interval that is so long that only a message wakes a waiter (us). */
#define HARDLY_EVER 500000000

static const char *second(void) {
    return getenv("FENCEPOST_REDIS_2");
}

static redisReply *at(const char *address, const char *format, ...) {
    redisContext *connection;
    char host[256], *port;
    redisReply *reply;
    va_list arguments;

    snprintf(host, sizeof host, "%s", address);
    port = strrchr(host, ':');
    *port++ = '\0';
    connection = redisConnect(host, atoi(port));
    va_start(arguments, format);
    reply = redisvCommand(connection, format, arguments);
    va_end(arguments);
    redisFree(connection);
    return reply;
}

/* The number of connections with subscriptions at a server. */
static int listeners(const char *address) {
    redisReply *reply = at(address, "CLIENT LIST TYPE pubsub");
    const char *line = reply->str;
    int count = 0;

    for (; line != NULL && *line != '\0'; line = strchr(line, '\n') == NULL ? NULL : strchr(line, '\n') + 1)
        count++;
    freeReplyObject(reply);
    return count;
}

/* The other server gets the locks, like a replica, and becomes the primary. */
static void fail_over(struct relay *relay, const char *one, const char *other) {
    char host[256], *port;
    redisReply *reply;

    snprintf(host, sizeof host, "%s", second());
    port = strrchr(host, ':');
    *port++ = '\0';
    reply =
        at(address(REDIS), "MIGRATE %s %s %s 0 5000 COPY REPLACE KEYS %s {%s}:fence %s {%s}:fence", host, port, "", one,
           one, other, other);
    if (!CHECK(reply != NULL && reply->type == REDIS_REPLY_STATUS))
        printf("    %s\n", reply->str);
    freeReplyObject(reply);
    freeReplyObject(at(address(REDIS), "REPLICAOF 127.0.0.1 1"));
    relay_turn(relay, second());
}

static void grant_and_waiter_go_to_the_new_primary(void) {
    struct relay *relay = relay_open("127.0.0.1", address(REDIS));
    fencepost_client *client = client_of(url_of("redis://", relay_address(relay), ""));
    fencepost_client *other = client_of(url_of("redis://", relay_address(relay), ""));
    const char *kept = new_name("kept"), *waited = new_name("waited");
    fencepost_grant *grant = hold(client, kept), *held = hold(other, waited), *next = NULL;
    fencepost_lock *lock = lock_with(client, waited, NULL);
    fencepost_attempt *attempt = NULL;

    CHECK_RESULT(fencepost_settings_set_micros(lock->settings, (const uint8_t *)"poll", 4, HARDLY_EVER), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, 2 * LONG, &attempt), FENCEPOST_OK);
    EVENTUALLY(listeners(address(REDIS)) == 1);
    fail_over(relay, kept, waited);
    /* The first command after the switch. */
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_OK);
    EVENTUALLY(listeners(address(REDIS)) == 0 && listeners(second()) == 1);
    /* The first command of this client after the switch. */
    let_go(held);
    CHECK_RESULT(fencepost_attempt_wait(attempt, &next), FENCEPOST_OK);
    CHECK(fencepost_grant_is_valid(grant));
    let_go(grant);
    let_go(next);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    close_client(client);
    close_client(other);
    relay_close(relay);
    freeReplyObject(at(address(REDIS), "REPLICAOF NO ONE"));
    CHECK(control("state", "flush redis-1") != NULL && control("state", "flush redis-2") != NULL);
}

int main(void) {
    if (address(REDIS) != NULL && second() != NULL)
        TEST(grant_and_waiter_go_to_the_new_primary);
    return check_close();
}
