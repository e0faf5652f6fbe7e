/* The limits of waits: for a program to take its grant, and for a first connection. */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.h"

/* Whether another client holds the lock. */
static bool is_taken(fencepost_client *client, const char *name) {
    fencepost_grant *grant = NULL;

    if (fencepost_try_acquire(client, name, &grant) == FENCEPOST_RESULT_NOT_AVAILABLE)
        return true;
    let_go(grant);
    return false;
}

/* A program begins an acquire, and never calls again: its grant blocks other contenders only for a limited time. */
static void untaken_grant_is_given_back(enum family family) {
    fencepost_client *client = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("untaken");
    const fencepost_options *brief = FENCEPOST_OPTIONS(.ttl = 2000);
    fencepost_lock *lock = lock_with(client, name, family == ZOOKEEPER ? NULL : brief);
    fencepost_attempt *attempt = NULL, *second = NULL;
    fencepost_grant *grant = NULL;

    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    EVENTUALLY(is_taken(other, name));
    let_go(hold(other, name));
    CHECK_FAULT(fencepost_attempt_finish(attempt, &grant), FENCEPOST_RESULT_LEASE_ENDED, "has not taken");
    CHECK(grant == NULL);
    /* A grant that the program takes in time stays held. */
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &second), FENCEPOST_OK);
    CHECK_RESULT(fencepost_attempt_wait(second, &grant), FENCEPOST_OK);
    poll(NULL, 0, 3000);
    CHECK(fencepost_grant_is_valid(grant));
    let_go(grant);
    fencepost_attempt_free(attempt);
    fencepost_attempt_free(second);
    fencepost_lock_free(lock);
    close_client(client);
    close_client(other);
}

/* The same with an owner's second grant: the first one stays held. */
static void untaken_hold_of_an_owner(void) {
    fencepost_client *client = client_of("memory:");
    const fencepost_options *mine = FENCEPOST_OPTIONS(.owner = "me");
    fencepost_lock *lock = lock_with(client, "untaken", mine);
    fencepost_grant *first = hold_with(client, "untaken", mine), *second = NULL;
    fencepost_attempt *attempt = NULL;

    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    poll(NULL, 0, 11000);
    CHECK_RESULT(fencepost_attempt_finish(attempt, &second), FENCEPOST_RESULT_LEASE_ENDED);
    CHECK(fencepost_grant_is_valid(first));
    fencepost_attempt_free(attempt);
    let_go(first);
    fencepost_lock_free(lock);
    close_client(client);
}

static void absent_server_is_told(enum family family) {
    const char *scheme = family == ZOOKEEPER ? "zk://" : "redis://";
    fencepost_client *client = client_of(url_of(scheme, "127.0.0.1:1", ""));
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;
    fencepost_lock *lock;
    int64_t start = millis();

    CHECK_FAULT(
        fencepost_acquire(client, new_name("absent"), FENCEPOST_FOREVER, &grant), FENCEPOST_RESULT_UNREACHABLE,
        "127.0.0.1:1 (Connection refused): check the address");
    CHECK(millis() - start >= 4900);
    CHECK_RESULT(fencepost_client_set_connect_timeout(client, 0), FENCEPOST_RESULT_NOT_POSITIVE);
    CHECK_RESULT(fencepost_client_set_connect_timeout(client, INT64_MAX), FENCEPOST_RESULT_TOO_LONG);
    CHECK_RESULT(fencepost_client_set_connect_timeout(client, 300), FENCEPOST_OK);
    lock = lock_with(client, new_name("absent"), NULL);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, FENCEPOST_FOREVER, &attempt), FENCEPOST_OK);
    CHECK_FAULT(fencepost_attempt_wait(attempt, &grant), FENCEPOST_RESULT_UNREACHABLE, "no connection in 0.3 s");
    CHECK(millis() - start < LONG);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    close_client(client);
}

/* A listener whose queue is full: a connect is neither accepted nor refused. */
static int listen_in_silence(struct sockaddr_in *at, int *filler) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof *at;

    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    *filler = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(listener, (struct sockaddr *)at, sizeof *at) == 0 && listen(listener, 0) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)at, &size) == 0);
    CHECK(connect(*filler, (struct sockaddr *)at, sizeof *at) == 0);
    return listener;
}

/* An acquire that ends while the client connects was not sent: the close leaves nothing. */
static void silent_server_leaves_nothing(enum family family) {
    struct sockaddr_in at;
    int filler, listener = listen_in_silence(&at, &filler);
    fencepost_grant *grant = NULL;
    fencepost_client *client;
    char address[32];

    snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(at.sin_port));
    client = client_of(url_of(family == ZOOKEEPER ? "zk://" : "redis://", address, ""));
    CHECK_RESULT(fencepost_client_set_connect_timeout(client, 300), FENCEPOST_OK);
    CHECK_FAULT(
        fencepost_acquire(client, new_name("silent"), FENCEPOST_FOREVER, &grant), FENCEPOST_RESULT_UNREACHABLE,
        "no connection in 0.3 s");
    close_client(client);
    close(filler);
    close(listener);
}

/* Redis treats ZooKeeper's handshake as the beginning of a command, and waits for the rest. */
static void another_kind_of_server(void) {
    fencepost_client *client = client_of(url_of("zk://", server(REDIS), ""));
    fencepost_grant *grant = NULL;
    char says[128];

    snprintf(says, sizeof says, "no connection in 2 s to %s (no answer): check the address", server(REDIS));
    CHECK_RESULT(fencepost_client_set_connect_timeout(client, 2000), FENCEPOST_OK);
    CHECK_FAULT(
        fencepost_acquire(client, new_name("another"), FENCEPOST_FOREVER, &grant), FENCEPOST_RESULT_UNREACHABLE, says);
    close_client(client);
}

static void *hang_up(void *listener) {
    int accepted;

    while ((accepted = accept(*(int *)listener, NULL, NULL)) >= 0)
        close(accepted);
    return NULL;
}

static void server_that_hangs_up(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof at;
    fencepost_grant *grant = NULL;
    fencepost_client *client;
    char address[32];
    pthread_t thread;

    CHECK(bind(listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(listener, 9) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&at, &size) == 0);
    CHECK(pthread_create(&thread, NULL, hang_up, &listener) == 0);
    snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(at.sin_port));
    client = client_of(url_of("zk://", address, "?session_timeout=60000"));
    CHECK_RESULT(fencepost_client_set_connect_timeout(client, 1000), FENCEPOST_OK);
    CHECK_FAULT(
        fencepost_acquire(client, new_name("hangs-up"), FENCEPOST_FOREVER, &grant), FENCEPOST_RESULT_UNREACHABLE,
        "(the server ends the connection)");
    close_client(client);
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listener);
}

static void unknown_host_is_told(void) {
    fencepost_client *client;
    fencepost_grant *grant = NULL;

    CHECK_FAULT(
        fencepost_connect("zk://no-such-host.invalid:2181", &client), FENCEPOST_RESULT_UNREACHABLE, "unknown host");
    client = client_of("redis://no-such-host.invalid");
    CHECK_FAULT(
        fencepost_acquire(client, new_name("unknown"), FENCEPOST_FOREVER, &grant), FENCEPOST_RESULT_UNREACHABLE,
        "no-such-host.invalid:6379 (");
    CHECK_FAULT(
        fencepost_acquire(client, new_name("unknown"), BRIEF, &grant), FENCEPOST_RESULT_UNREACHABLE,
        "no-such-host.invalid: ");
    close_client(client);
}

/* If there was a connection before, an acquire waits until the client is connected again. */
static void server_that_was_there_is_waited_for(enum family family) {
    const char *const servers[] = {"", "zookeeper", "redis-1"}, *const schemes[] = {"", "zk://", "redis://"};
    const char *at = NULL, *proxy = proxy_open(servers[family], &at);
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;
    fencepost_client *client;
    fencepost_lock *lock;

    NEED(proxy != NULL);
    client = client_of(url_of(schemes[family], at, ""));
    CHECK_RESULT(fencepost_client_set_connect_timeout(client, 1000), FENCEPOST_OK);
    let_go(hold(client, new_name("there")));
    lock = lock_with(client, new_name("there"), NULL);
    control("ok", "proxy-cut %s", proxy);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    poll(NULL, 0, 2500);
    CHECK_RESULT(fencepost_attempt_finish(attempt, &grant), FENCEPOST_RESULT_PENDING);
    control("ok", "proxy-heal %s", proxy);
    CHECK_RESULT(fencepost_attempt_wait(attempt, &grant), FENCEPOST_OK);
    let_go(grant);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    close_client(client);
    control("ok", "proxy-close %s", proxy);
}

/* `memory:` accepts the options of both servers, and checks them in the same way. */
static void memory_takes_the_options_of_redis(void) {
    fencepost_client *client = client_of("memory:");
    fencepost_lock *lock = NULL;

    lock = lock_with(client, "stock/42", FENCEPOST_OPTIONS(.ttl = 10000, .without_renewal = true));
    CHECK_RESULT(fencepost_lock_set_ttl(lock, 5000), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_set_ttl(lock, 1), FENCEPOST_RESULT_LEASE_TOO_SHORT);
    CHECK_RESULT(fencepost_lock_set_renew(lock, false), FENCEPOST_OK);
    fencepost_lock_free(lock);
    CHECK_RESULT(
        fencepost_lock_open(client, "stock/42", FENCEPOST_OPTIONS(.ttl = -1), &lock), FENCEPOST_RESULT_NOT_POSITIVE);
    /* A combination that no server has. */
    CHECK_RESULT(
        fencepost_lock_open(client, "stock/42", FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER, .ttl = 10000), &lock),
        FENCEPOST_RESULT_UNKNOWN_OPTION);
    close_client(client);
}

static void *release_it(void *grant) {
    poll(NULL, 0, 300);
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_OK);
    return NULL;
}

/* The longest finite timeout also waits. */
static void longest_timeouts(void) {
    fencepost_client *client = client_of("memory:");
    fencepost_grant *grant = hold(client, "long");
    pthread_t thread;

    pthread_create(&thread, NULL, release_it, grant);
    CHECK_RESULT(fencepost_grant_wait_lost(grant, INT64_MAX - 1), FENCEPOST_RESULT_NOT_HELD);
    pthread_join(thread, NULL);
    fencepost_grant_free(grant);
    close_client(client);
}

int main(void) {
    enum family family;

    if (address(MEMORY) != NULL) {
        TEST(memory_takes_the_options_of_redis);
        TEST(longest_timeouts);
        TEST(untaken_hold_of_an_owner);
    }
    TEST(unknown_host_is_told);
    TEST(server_that_hangs_up);
    if (server(ZOOKEEPER) != NULL && server(REDIS) != NULL)
        TEST(another_kind_of_server);
    for (family = MEMORY; family < FAMILIES; family++) {
        if (address(family) == NULL)
            continue;
        TEST_ON(untaken_grant_is_given_back, family, label(family));
        if (family == MEMORY)
            continue;
        TEST_ON(absent_server_is_told, family, label(family));
        TEST_ON(silent_server_leaves_nothing, family, label(family));
        TEST_ON(server_that_was_there_is_waited_for, family, label(family));
    }
    return check_close();
}
