/* Sessions that the program has made: new ones, whose time is known, and older ones, whose time is not. */
#include <fencepost-zookeeper.h>
#include <poll.h>

#include "support.h"

/* A session timeout of which a quarter is longer than the wait of any test here. */
#define LONG_SESSION 120000

static void quiet(const char *message) {
    (void)message;
}

static zhandle_t *begin(const char *hosts) {
    return zookeeper_init2(hosts, NULL, LONG_SESSION, NULL, NULL, ZOO_NO_LOG_CLIENTENV, quiet);
}

static fencepost_client *attach(zhandle_t *handle) {
    fencepost_client *client = NULL;

    CHECK_RESULT(fencepost_zookeeper_attach(handle, NULL, NULL, &client), FENCEPOST_OK);
    return client;
}

/* The lock is granted long before a quarter of the session timeout, and is valid. */
static void is_granted_at_once(fencepost_client *client) {
    fencepost_lock *lock = lock_with(client, new_name("given"), NULL);
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;
    fencepost_result result = FENCEPOST_RESULT_PENDING;

    CHECK_RESULT(fencepost_lock_acquire_start(lock, FENCEPOST_FOREVER, &attempt), FENCEPOST_OK);
    EVENTUALLY((result = fencepost_attempt_finish(attempt, &grant)) != FENCEPOST_RESULT_PENDING);
    if (CHECK_RESULT(result, FENCEPOST_OK)) {
        CHECK(fencepost_grant_is_valid(grant));
        let_go(grant);
    }
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
}

/* On a busy machine, a handle with threads may connect before the attach, which then finds an older session. So the
 * test tries further handles. */
static void attached_at_once(void) {
    zhandle_t *handle = NULL;
    fencepost_client *client = NULL;
    bool connected = true;
    int tries;

    for (tries = 0; connected && tries < 100; tries++) {
        handle = begin(address(ZOOKEEPER));
        client = attach(handle);
        connected = zoo_state(handle) == ZOO_CONNECTED_STATE;
        if (connected) {
            close_client(client);
            zookeeper_close(handle);
        }
    }
    if (!CHECK(!connected))
        return;
    is_granted_at_once(client);
    close_client(client);
    zookeeper_close(handle);
}

/* Attaches before the server runs, or before it replies to the handshake. */
static void attached_before(const char *state, const char *then, bool associates) {
    const char *at = NULL;
    char proxy[32];
    fencepost_client *client;
    zhandle_t *handle;

    snprintf(proxy, sizeof proxy, "%s", proxy_open("zookeeper", &at));
    CHECK(control("id", "%s %s", state, proxy) != NULL);
    handle = begin(at);
    if (associates)
        EVENTUALLY(zoo_state(handle) == ZOO_ASSOCIATING_STATE);
    client = attach(handle);
    CHECK(control("id", "%s %s", then, proxy) != NULL);
    is_granted_at_once(client);
    close_client(client);
    zookeeper_close(handle);
    control("id", "proxy-close %s", proxy);
}

static void attached_before_the_connection(void) {
    attached_before("proxy-cut", "proxy-heal", false);
}

static void attached_before_the_answer(void) {
    attached_before("proxy-hold", "proxy-pass", true);
}

/* A handle that continues the session of another handle has an older session, although it is not connected yet.
 */
static void attached_to_a_session_that_goes_on(void) {
    const char *at = NULL;
    fencepost_grant *grant = NULL;
    fencepost_client *client;
    zhandle_t *first, *handle;
    clientid_t session;
    char proxy[32];
    int64_t start;

    snprintf(proxy, sizeof proxy, "%s", proxy_open("zookeeper", &at));
    first = zookeeper_open(at, 12000);
    session = *zoo_client_id(first);
    CHECK(control("id", "proxy-cut %s", proxy) != NULL);
    start = millis();
    handle = zookeeper_init2(address(ZOOKEEPER), NULL, 12000, &session, NULL, ZOO_NO_LOG_CLIENTENV, quiet);
    client = attach(handle);
    CHECK_RESULT(fencepost_acquire(client, new_name("goes-on"), LONG, &grant), FENCEPOST_OK);
    CHECK(millis() - start >= 2900);
    let_go(grant);
    close_client(client);
    zookeeper_close(handle);
    zookeeper_close(first);
    control("id", "proxy-close %s", proxy);
}

/* The lock is free, but is granted late. */
static void free_lock_of_an_older_session(void) {
    const fencepost_options *const kinds[] = {NULL, FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = 1)};
    zhandle_t *handle;
    fencepost_grant *grant;
    fencepost_client *client;
    size_t i;
    int tries;

    for (i = 0; i < 2; i++) {
        for (tries = 0; tries < 2; tries++) {
            handle = zookeeper_open(address(ZOOKEEPER), 12000);
            client = attach(handle);
            grant = NULL;
            CHECK_RESULT(
                tries ? fencepost_try_acquire_with(client, new_name("older"), kinds[i], &grant)
                      : fencepost_acquire_with(client, new_name("older"), kinds[i], 300, &grant),
                FENCEPOST_OK);
            let_go(grant);
            close_client(client);
            zookeeper_close(handle);
        }
    }
}

int main(void) {
    if (address(ZOOKEEPER) == NULL)
        return check_close();
    TEST(attached_at_once);
    TEST(attached_before_the_connection);
    TEST(attached_before_the_answer);
    TEST(attached_to_a_session_that_goes_on);
    TEST(free_lock_of_an_older_session);
    return check_close();
}
