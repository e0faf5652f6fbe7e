/* What goes wrong on the way, and what holders and waiters see of it. Real servers, really stopped. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "support.h"

struct waiter {
    pthread_t thread;
    fencepost_client *client;
    const char *name;
    fencepost_result result;
    fencepost_grant *grant;
};

static void *wait_for_it(void *argument) {
    struct waiter *waiter = argument;

    waiter->result = fencepost_acquire(waiter->client, waiter->name, 3 * LONG, &waiter->grant);
    return NULL;
}

static void start_waiting(struct waiter *waiter, fencepost_client *client, const char *name) {
    waiter->client = client;
    waiter->name = name;
    waiter->grant = NULL;
    pthread_create(&waiter->thread, NULL, wait_for_it, waiter);
}

static void gets_it(struct waiter *waiter) {
    pthread_join(waiter->thread, NULL);
    CHECK_RESULT(waiter->result, FENCEPOST_OK);
    if (waiter->grant != NULL)
        let_go(waiter->grant);
}

static fencepost_grant *hold_shortly(fencepost_client *client, const char *name, int64_t ttl) {
    fencepost_grant *grant = NULL;
    fencepost_lock *lock;

    CHECK_RESULT(fencepost_lock_new(client, name, &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_set_ttl(lock, ttl), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire(lock, LONG, &grant), FENCEPOST_OK);
    fencepost_lock_free(lock);
    return grant;
}

/* ---- ZooKeeper ---- */

/* What somebody else does to the holder of a lock. */
static void delete_node(zhandle_t *raw, const char *name) {
    char node[2048] = "";

    CHECK(zookeeper_find(raw, url_of("/", name, ""), "-lock-", node, sizeof node));
    CHECK(zoo_delete(raw, node, -1) == ZOK);
}

static void node_is_deleted(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, ""));
    zhandle_t *raw = zookeeper_open(address(ZOOKEEPER), 4000);
    const char *name = new_name("deleted");
    fencepost_grant *grant = hold(client, name);

    NEED(grant != NULL);
    /* A holder watches its node from its first confirmation on. */
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_OK);
    delete_node(raw, name);
    CHECK_FAULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_DELETED, "deleted");
    CHECK(fencepost_grant_is_lost(grant) && !fencepost_grant_is_valid(grant));
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_RESULT_DELETED);
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_RESULT_DELETED);
    fencepost_grant_free(grant);
    let_go(hold(client, name));
    zookeeper_close(raw);
    close_client(client);
}

/* Nobody is inside a call: the session lives on. */
static void nobody_calls(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, "?session_timeout=6000"));
    fencepost_grant *grant = hold(client, new_name("quiet"));
    int64_t end = millis() + 10000;

    NEED(grant != NULL);
    while (millis() < end)
        poll(NULL, 0, 50);
    EVENTUALLY(fencepost_grant_is_valid(grant)); /* at once, unless a busy machine has kept us from pinging */
    let_go(grant);
    close_client(client);
}

/* Nor does anybody wait for what the server says: it is heard when it is said, long before the next ping is due. */
static void nobody_waits(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, "?session_timeout=40000"));
    zhandle_t *raw = zookeeper_open(address(ZOOKEEPER), 4000);
    const char *name = new_name("unasked");
    fencepost_grant *grant = hold(client, name);
    int64_t before;

    NEED(grant != NULL);
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_OK);
    before = millis();
    delete_node(raw, name);
    EVENTUALLY(!fencepost_grant_is_valid(grant));
    CHECK(millis() - before < 5000);
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_RESULT_DELETED);
    fencepost_grant_free(grant);
    zookeeper_close(raw);
    close_client(client);
}

/* The connection is held until the server has ended the session; then the driver makes a new one. */
static void session_ends(void) {
    const char *place, *proxy = proxy_open("zookeeper", &place);
    fencepost_client *mine = client_of(url_of("zk://", place, "?session_timeout=3000"));
    fencepost_client *other = client_of(url(ZOOKEEPER, ""));
    const char *name = new_name("expired");
    fencepost_grant *grant = hold(mine, name);
    struct waiter waiter;

    start_waiting(&waiter, other, name);
    CHECK(control("held", "proxy-hold %s", proxy) != NULL);
    CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_LEASE_ENDED);
    gets_it(&waiter);
    CHECK(control("held", "proxy-pass %s", proxy) != NULL);
    let_go(hold(mine, name));
    fencepost_grant_free(grant);
    close_client(mine);
    close_client(other);
    control("id", "proxy-close %s", proxy);
}

static void zookeeper_stops(void) {
    fencepost_client *mine = client_of(url(ZOOKEEPER, "?session_timeout=3000"));
    fencepost_client *other = client_of(url(ZOOKEEPER, "?session_timeout=3000"));
    const char *name = new_name("stopped");
    fencepost_grant *grant = hold(mine, name);
    struct waiter waiter;

    start_waiting(&waiter, other, name);
    CHECK(control("state", "kill zookeeper") != NULL);
    EVENTUALLY(!fencepost_grant_is_valid(grant)); /* suspended */
    CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_LEASE_ENDED);
    CHECK(control("state", "start zookeeper") != NULL);
    gets_it(&waiter);
    fencepost_grant_free(grant);
    let_go(hold(mine, name));
    close_client(mine);
    close_client(other);
}

/* A short absence: the same session, the same grant. */
static void zookeeper_restarts(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, "?session_timeout=20000"));
    fencepost_grant *grant = hold(client, new_name("restarted"));

    CHECK(control("state", "restart zookeeper") != NULL);
    EVENTUALLY(fencepost_grant_is_valid(grant));
    CHECK(!fencepost_grant_is_lost(grant));
    let_go(grant);
    close_client(client);
}

static void one_of_the_ensemble_dies(void) {
    const char *members = getenv("FENCEPOST_ZOOKEEPER_ENSEMBLE");
    fencepost_client *client;
    fencepost_grant *grant;

    if (members == NULL)
        return;
    client = client_of(url_of("zk://", members, "?session_timeout=10000"));
    grant = hold(client, new_name("ensemble"));
    CHECK(control("state", "kill ensemble-1") != NULL);
    EVENTUALLY(fencepost_grant_is_valid(grant));
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_OK);
    let_go(grant);
    CHECK(control("state", "start ensemble-1") != NULL);
    close_client(client);
}

/* ---- Redis ---- */

static void key_is_deleted(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    const char *name = new_name("deleted");
    fencepost_grant *grant = hold_shortly(client, name, 2000);

    freeReplyObject(redis("DEL %s", name));
    /* Nobody calls: the client's own thread renews, and finds out. */
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

    poll(NULL, 0, 4500); /* more than two leases of doing something else */
    CHECK(fencepost_grant_is_valid(grant));
    let_go(grant);
    close_client(client);
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

    start_waiting(&waiter, other, name);
    poll(NULL, 0, 30);
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

    start_waiting(&waiter, other, name);
    poll(NULL, 0, 30);
    /* It comes back empty: whoever renews first finds nothing, or somebody else. */
    CHECK(control("state", "restart redis-1") != NULL);
    CHECK(fencepost_grant_wait_lost(grant, LONG) / 100 == 4);
    gets_it(&waiter);
    fencepost_grant_free(grant);
    let_go(hold(mine, name));
    close_client(mine);
    close_client(other);
}

/* ---- both ---- */

static void holder_is_killed(enum family family) {
    const char *rest = family == ZOOKEEPER ? "?session_timeout=3000" : "", *name = new_name("killed");
    fencepost_client *client = client_of(url(family, ""));
    struct process holder;
    struct waiter waiter;

    NEED(process_start(&holder, family == REDIS ? "quick" : "hold", url(family, rest), name));
    start_waiting(&waiter, client, name);
    poll(NULL, 0, 30);
    process_kill(&holder, SIGKILL);
    gets_it(&waiter);
    close_client(client);
}

/* The server has taken the lock for us, and its answer is lost. */
static void reply_is_lost(enum family family, int request) {
    const char *place, *proxy = proxy_open(family == ZOOKEEPER ? "zookeeper" : "redis-1", &place);
    fencepost_client *mine = client_of(url_of(family == ZOOKEEPER ? "zk://" : "redis://", place, ""));
    fencepost_client *other = client_of(url(family, ""));
    const char *name = new_name("lost-reply");
    fencepost_grant *grant;

    let_go(hold(mine, name)); /* connected, and the server knows the scripts */
    CHECK(control("id", "proxy-drop-replies %s %d", proxy, request) != NULL);
    grant = hold(mine, name);
    NEED(grant != NULL);
    let_go(grant);
    /* Nobody holds it. */
    grant = hold(other, name);
    let_go(grant);
    close_client(mine);
    close_client(other);
    control("id", "proxy-close %s", proxy);
}

static void acquire_is_lost(enum family family) {
    reply_is_lost(family, 1);
}

/* ZooKeeper: the list, or a confirmation. Redis: the release. */
static void second_reply_is_lost(enum family family) {
    reply_is_lost(family, 2);
}

static void server_is_away(enum family family) {
    const char *server = family == ZOOKEEPER ? "zookeeper" : "redis-1";
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("away");
    fencepost_grant *grant = NULL;
    struct waiter waiter;

    CHECK(control("state", "stop %s", server) != NULL);
    CHECK_RESULT(fencepost_acquire(client, name, 300, &grant), FENCEPOST_RESULT_UNREACHABLE);
    CHECK(strlen(fencepost_detail()) > 0);
    start_waiting(&waiter, client, name);
    CHECK(control("state", "start %s", server) != NULL);
    gets_it(&waiter);
    close_client(client);
}

/* Closing while nobody answers takes its time, and says what it has left. */
static void closing_reports_what_it_left(enum family family) {
    const char *server = family == ZOOKEEPER ? "zookeeper" : "redis-1";
    fencepost_client *client = client_of(url(family, ""));
    fencepost_grant *grant = hold(client, new_name("left"));
    int64_t before;

    CHECK(control("state", "pause %s", server) != NULL);
    before = millis();
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_RESULT_RELEASE_UNCONFIRMED);
    CHECK(millis() - before >= 4900 && millis() - before < LONG);
    before = millis();
    CHECK_FAULT(fencepost_close(client), FENCEPOST_RESULT_CLEANUP_INCOMPLETE, "1 lock");
    /* A part of the five seconds is for the client library's own end. */
    CHECK(millis() - before >= 3000 && millis() - before < LONG);
    CHECK(control("state", "resume %s", server) != NULL);
    fencepost_grant_free(grant);
    fencepost_client_free(client);
}

/* One thread sleeps until an answer comes, or until it has something to do itself, much later. Another one's time is up
 * before that. */
static void a_short_wait_beside_a_long_one(enum family family) {
    const char *server = family == ZOOKEEPER ? "zookeeper" : "redis-1";
    fencepost_client *client = client_of(url(family, family == ZOOKEEPER ? "?session_timeout=40000" : ""));
    fencepost_client *holder = client_of(url(family, family == ZOOKEEPER ? "?session_timeout=40000" : ""));
    const char *name = new_name("beside"), *other = new_name("beside");
    fencepost_grant *held = hold(holder, name), *grant = NULL;
    struct waiter waiter;
    int64_t before;

    let_go(hold(client, other));
    start_waiting(&waiter, client, name);
    poll(NULL, 0, 30);
    CHECK(control("state", "pause %s", server) != NULL);
    before = millis();
    CHECK_RESULT(fencepost_acquire(client, other, 300, &grant), FENCEPOST_RESULT_UNREACHABLE);
    CHECK(millis() - before < 4000);
    CHECK(control("state", "resume %s", server) != NULL);
    let_go(held);
    gets_it(&waiter);
    close_client(holder);
    close_client(client);
}

int main(void) {
    int family;

    if (address(ZOOKEEPER) != NULL) {
        TEST(node_is_deleted);
        TEST(nobody_calls);
        TEST(nobody_waits);
        TEST(session_ends);
        TEST(zookeeper_stops);
        TEST(zookeeper_restarts);
        TEST(one_of_the_ensemble_dies);
    }
    if (address(REDIS) != NULL) {
        TEST(key_is_deleted);
        TEST(key_is_taken);
        TEST(lease_is_renewed);
        TEST(lease_without_renewal_ends);
        TEST(redis_pauses);
        TEST(redis_restarts);
    }
    for (family = ZOOKEEPER; family < FAMILIES; family++) {
        if (address((enum family)family) == NULL)
            continue;
#define ON(name) TEST_ON(name, (enum family)family, label((enum family)family))
        ON(holder_is_killed);
        ON(acquire_is_lost);
        ON(second_reply_is_lost);
        ON(server_is_away);
        ON(a_short_wait_beside_a_long_one);
        ON(closing_reports_what_it_left);
    }
    return check_close();
}
