/* Faults on ZooKeeper, and their effect on holders and waiters. The tests stop a real server. */
#include <poll.h>

#include "waiting.h"

/* Deletes the holder's node, as another client. */
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
    /* The client watches the holder's node after its first confirmation. */
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

/* No thread is inside a call: the session stays alive. */
static void nobody_calls(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, "?session_timeout=6000"));
    fencepost_grant *grant = hold(client, new_name("quiet"));
    int64_t end = millis() + 10000;

    NEED(grant != NULL);
    while (millis() < end)
        poll(NULL, 0, 50);
    EVENTUALLY(fencepost_grant_is_valid(grant)); /* at once, unless a busy machine has delayed the pings */
    let_go(grant);
    close_client(client);
}

/* The client reads a reply when it arrives, long before the next ping is due. */
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
    CHECK(millis() - before < 10000);
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_RESULT_DELETED);
    fencepost_grant_free(grant);
    zookeeper_close(raw);
    close_client(client);
}

/* The proxy holds the connection until the server has ended the session. Then the driver makes a new session. */
static void session_ends(void) {
    const char *place, *proxy = proxy_open("zookeeper", &place);
    fencepost_client *mine = client_of(url_of("zk://", place, "?session_timeout=3000"));
    fencepost_client *other = client_of(url(ZOOKEEPER, ""));
    const char *name = new_name("expired");
    fencepost_grant *grant = hold(mine, name);
    struct waiter waiter;

    start_waiting_behind(&waiter, ZOOKEEPER, mine, other, name);
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

    start_waiting_behind(&waiter, ZOOKEEPER, mine, other, name);
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

int main(void) {
    if (address(ZOOKEEPER) == NULL)
        return check_close();
    TEST(node_is_deleted);
    TEST(nobody_calls);
    TEST(nobody_waits);
    TEST(session_ends);
    TEST(zookeeper_stops);
    TEST(zookeeper_restarts);
    TEST(one_of_the_ensemble_dies);
    return check_close();
}
