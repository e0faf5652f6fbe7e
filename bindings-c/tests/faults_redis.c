/* Faults on Redis, and their effect on holders and waiters. The tests stop a real server. */
#include <poll.h>

#include "relay.h"
#include "waiting.h"

static void key_is_deleted(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    const char *name = new_name("deleted");
    fencepost_grant *grant = hold_shortly(client, name, 2000);

    freeReplyObject(redis("DEL %s", name));
    /* The test makes no call: the client's background thread renews, and detects the loss. */
    CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_DELETED);
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_RESULT_DELETED);
    fencepost_grant_free(grant);
    close_client(client);
}

static void key_is_taken(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    const char *name = new_name("taken");
    fencepost_grant *grant = hold(client, name);

    freeReplyObject(redis("SET %s somebody", name));
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_RESULT_TAKEN);
    CHECK(fencepost_grant_is_lost(grant));
    fencepost_grant_free(grant);
    freeReplyObject(redis("DEL %s", name));
    close_client(client);
}

static void lease_is_renewed(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_grant *grant = hold_shortly(client, new_name("renewed"), 2000);

    poll(NULL, 0, 4500); /* other work, for more than two leases */
    CHECK(fencepost_grant_is_valid(grant));
    let_go(grant);
    close_client(client);
}

/* Replies take a second longer than a third of the lease: they still count, if they arrive on the same connection.
 */
static void late_renewals_count(void) {
    struct relay *relay = relay_open("127.0.0.1", address(REDIS));
    fencepost_client *client = client_of(url_of("redis://", relay_address(relay), ""));
    fencepost_grant *grant = hold_shortly(client, new_name("late-renewals"), 8400);

    relay_delay(relay, 4100);
    CHECK_RESULT(fencepost_grant_wait_lost(grant, 10000), FENCEPOST_RESULT_PENDING);
    CHECK(fencepost_grant_is_valid(grant));
    CHECK(relay_connections(relay) == 1);
    relay_delay(relay, 0);
    let_go(grant);
    close_client(client);
    relay_close(relay);
}

static void lease_without_renewal_ends(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_grant *grant = NULL;
    fencepost_lock *lock;

    CHECK_RESULT(fencepost_lock_new(client, new_name("not-renewed"), &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_set_ttl(lock, 1000), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_set_renew(lock, false), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire(lock, LONG, &grant), FENCEPOST_OK);
    CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_LEASE_ENDED);
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    close_client(client);
}

static void redis_pauses(void) {
    fencepost_client *mine = client_of(url(REDIS, "")), *other = client_of(url(REDIS, ""));
    const char *name = new_name("paused");
    fencepost_grant *grant = hold_shortly(mine, name, 2000);
    struct waiter waiter;

    start_waiting_behind(&waiter, REDIS, mine, other, name);
    CHECK(control("state", "pause redis-1") != NULL);
    CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_LEASE_ENDED);
    CHECK(control("state", "resume redis-1") != NULL);
    gets_it(&waiter);
    fencepost_grant_free(grant);
    let_go(hold(mine, name));
    close_client(mine);
    close_client(other);
}

static void redis_restarts(void) {
    fencepost_client *mine = client_of(url(REDIS, "")), *other = client_of(url(REDIS, ""));
    const char *name = new_name("restarted");
    fencepost_grant *grant = hold_shortly(mine, name, 2000);
    struct waiter waiter;

    start_waiting_behind(&waiter, REDIS, mine, other, name);
    /* The server restarts empty: the holder's renewal finds no key, or the key of another holder. */
    CHECK(control("state", "restart redis-1") != NULL);
    CHECK(fencepost_grant_wait_lost(grant, LONG) / 100 == 4);
    gets_it(&waiter);
    fencepost_grant_free(grant);
    let_go(hold(mine, name));
    close_client(mine);
    close_client(other);
}

int main(void) {
    if (address(REDIS) == NULL)
        return check_close();
    TEST(key_is_deleted);
    TEST(key_is_taken);
    TEST(lease_is_renewed);
    TEST(late_renewals_count);
    TEST(lease_without_renewal_ends);
    TEST(redis_pauses);
    TEST(redis_restarts);
    return check_close();
}
