/* Redis over TLS: which servers the client trusts, and that it sends nothing without TLS. */
#include <poll.h>
#include <pthread.h>

#include "support.h"

/* An address that leads to the server; `ca` is the variable that names the certificates to trust. */
static const char *secure(const char *at, const char *ca) {
    const char *password = url_of("rediss://:", getenv("FENCEPOST_REDIS_TLS_PASSWORD"), "@");

    return ca == NULL ? url_of(password, at, "") : url_of(url_of(password, at, "?ca="), getenv(ca), "");
}

static const char *place(void) {
    return getenv("FENCEPOST_REDIS_TLS");
}

static const char *trusted(void) {
    return secure(place(), "FENCEPOST_REDIS_TLS_CA");
}

/* The address of the same server, with another host name or IP address. */
static const char *at_host(const char *host) {
    return url_of(host, strchr(place(), ':'), "");
}

/* The last number in the server's reply to redis-cli; -1 if there is none. */
static long asked(const char *question, const char *name, const char *rest) {
    char command[8192], line[256];
    long number = -1;
    FILE *out;

    snprintf(
        command, sizeof command, "REDISCLI_AUTH=%s redis-cli --tls --cacert '%s' -h 127.0.0.1 -p %s %s'%s%s'",
        getenv("FENCEPOST_REDIS_TLS_PASSWORD"), getenv("FENCEPOST_REDIS_TLS_CA"), strchr(place(), ':') + 1, question,
        name, rest);
    if ((out = popen(command, "r")) == NULL)
        return -1;
    while (fgets(line, sizeof line, out) != NULL)
        number = strtol(line, NULL, 10);
    pclose(out);
    return number;
}

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

static void waiter_is_told(void) {
    const char *name = new_name("tls");
    struct waiter waiter = {0};
    fencepost_client *client = client_of(trusted());
    fencepost_grant *grant;
    fencepost_lock *lock;
    uint64_t fence;

    CHECK_RESULT(fencepost_lock_new(client, name, &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_set_ttl(lock, 3600000), FENCEPOST_OK);
    NEED(fencepost_lock_acquire(lock, LONG, &grant) == FENCEPOST_OK);
    fence = fencepost_grant_fence(grant);
    CHECK(asked("PTTL ", name, "") > 3000000);
    waiter.client = client_of(secure(at_host("localhost"), "FENCEPOST_REDIS_TLS_CA"));
    waiter.name = name;
    CHECK_RESULT(fencepost_try_acquire(waiter.client, name, &waiter.grant), FENCEPOST_RESULT_NOT_AVAILABLE);
    pthread_create(&waiter.thread, NULL, wait_for_it, &waiter);
    EVENTUALLY(asked("PUBSUB NUMSUB {", name, "}:released") == 1);
    let_go(grant);
    pthread_join(waiter.thread, NULL);
    CHECK_RESULT(waiter.result, FENCEPOST_OK);
    if (waiter.grant != NULL) {
        CHECK(fencepost_grant_fence(waiter.grant) > fence);
        let_go(waiter.grant);
    }
    asked("DEL {", name, "}:fence");
    fencepost_lock_free(lock);
    close_client(waiter.client);
    close_client(client);
}

/* More data than one TLS record, and than the socket accepts at once. */
static void long_texts(void) {
    static char name[4096];
    fencepost_client *client = client_of(trusted());
    int i;

    memset(name, 'n', sizeof name - 1);
    memcpy(name, "c-tests/", 8);
    for (i = 0; i < 20; i++)
        let_go(hold(client, name));
    asked("DEL {", name, "}:fence");
    close_client(client);
}

/* An acquire fails at once, without the wait for a first connection. */
static void nobody_vouches(void) {
    const char *const rows[][2] = {
        {secure(place(), "FENCEPOST_REDIS_TLS_OTHER_CA"), "certificate"},
        {secure(place(), NULL), "certificate"},
        {secure(at_host("127.0.0.2"), "FENCEPOST_REDIS_TLS_CA"), "mismatch"},
    };
    fencepost_grant *grant = NULL;
    int i;

    for (i = 0; i < 3; i++) {
        fencepost_client *client = client_of(rows[i][0]);
        CHECK_FAULT(fencepost_acquire(client, "x", 3600000, &grant), FENCEPOST_RESULT_SERVER_ERROR, rows[i][1]);
        CHECK_FAULT(fencepost_try_acquire(client, "x", &grant), FENCEPOST_RESULT_SERVER_ERROR, "ERR TLS");
        close_client(client);
    }
}

static void files_that_are_none(void) {
    fencepost_client *client = NULL;

    CHECK_FAULT(
        fencepost_connect("rediss://:secret@h?ca=/no/such/ca.pem", &client), FENCEPOST_RESULT_INVALID_URL,
        "ca=/no/such/ca.pem: No such file");
    CHECK_FAULT(
        fencepost_connect("rediss://:secret@h?ca=/dev/null", &client), FENCEPOST_RESULT_INVALID_URL, "no certificate");
    CHECK(strstr(fencepost_detail(), "secret") == NULL);
}

static void no_mixing(void) {
    const char *const urls[] = {
        url_of(url_of("redis://:", getenv("FENCEPOST_REDIS_TLS_PASSWORD"), "@"), place(), ""),
        url_of("rediss://", address(REDIS), ""),
    };
    fencepost_grant *grant = NULL;
    int i;

    for (i = 0; i < 2; i++) {
        fencepost_client *client = client_of(urls[i]);
        CHECK_RESULT(fencepost_acquire(client, "x", 500, &grant), FENCEPOST_RESULT_UNREACHABLE);
        fencepost_close(client);
        fencepost_client_free(client);
    }
}

static void wrong_password(void) {
    fencepost_client *client =
        client_of(url_of(url_of("rediss://:wrong@", place(), "?ca="), getenv("FENCEPOST_REDIS_TLS_CA"), ""));
    fencepost_grant *grant = NULL;

    CHECK_RESULT(fencepost_acquire(client, "x", LONG, &grant), FENCEPOST_RESULT_AUTH_FAILED);
    close_client(client);
}

static void cut_and_healed(void) {
    const char *at = NULL, *proxy = proxy_open("redis-tls", &at);
    fencepost_client *client = client_of(secure(at, "FENCEPOST_REDIS_TLS_CA"));
    fencepost_grant *grant = hold(client, new_name("cut"));

    NEED(grant != NULL);
    CHECK(control("cut", "proxy-cut %s", proxy) != NULL);
    CHECK(control("cut", "proxy-heal %s", proxy) != NULL);
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_OK);
    let_go(grant);
    close_client(client);
    control("id", "proxy-close %s", proxy);
}

/* A server accepts the connection and does not reply: the loop is not blocked, and the handshake continues later. */
static void handshake_in_a_loop(void) {
    const char *at = NULL, *proxy = proxy_open("redis-tls", &at);
    fencepost_client *client = client_of(secure(at, "FENCEPOST_REDIS_TLS_CA"));
    struct pollfd source = {fencepost_client_fd(client), POLLIN, 0};
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;
    fencepost_lock *lock;
    fencepost_result result;
    int64_t end = millis() + LONG;
    int turns;

    CHECK(control("held", "proxy-hold %s", proxy) != NULL);
    CHECK_RESULT(fencepost_lock_new(client, new_name("loop"), &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    for (turns = 0; turns < 20; turns++) {
        poll(&source, 1, 5);
        CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
        CHECK_RESULT(fencepost_attempt_finish(attempt, &grant), FENCEPOST_RESULT_PENDING);
    }
    CHECK(control("held", "proxy-pass %s", proxy) != NULL);
    while ((result = fencepost_attempt_finish(attempt, &grant)) == FENCEPOST_RESULT_PENDING && millis() < end) {
        poll(&source, 1, fencepost_client_timeout(client));
        fencepost_client_process(client);
    }
    CHECK_RESULT(result, FENCEPOST_OK);
    fencepost_attempt_free(attempt);
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    close_client(client);
    control("id", "proxy-close %s", proxy);
}

int main(void) {
    TEST(files_that_are_none);
    if (place() == NULL || address(REDIS) == NULL)
        return check_close();
    TEST(waiter_is_told);
    TEST(long_texts);
    TEST(nobody_vouches);
    TEST(no_mixing);
    TEST(wrong_password);
    TEST(cut_and_healed);
    TEST(handshake_in_a_loop);
    return check_close();
}
