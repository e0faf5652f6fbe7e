/* Bad input: each call returns a clear error at once, and the client sends nothing. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <fencepost-redis.h>
#include <fencepost-zookeeper.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static void addresses(void) {
    static const struct {
        const char *url;
        int expected;
        const char *words;
    } rows[] = {
        {"", FENCEPOST_RESULT_UNKNOWN_SCHEME, "unknown scheme"},
        {"localhost", FENCEPOST_RESULT_UNKNOWN_SCHEME, "zk://"},
        {"http://x", FENCEPOST_RESULT_UNKNOWN_SCHEME, "http"},
        {"zk://", FENCEPOST_RESULT_INVALID_URL, "host"},
        {"zk://a:0", FENCEPOST_RESULT_INVALID_URL, "port"},
        {"zk://a?retries=1", FENCEPOST_RESULT_UNKNOWN_OPTION, "retries"},
        {"zk://a?session_timeout=0", FENCEPOST_RESULT_NOT_POSITIVE, "session_timeout"},
        {"redis://", FENCEPOST_RESULT_INVALID_URL, "host"},
        {"redis://h:x", FENCEPOST_RESULT_INVALID_URL, "port"},
        {"redis://h/x", FENCEPOST_RESULT_INVALID_URL, "database"},
        {"redis://h?ssl=1", FENCEPOST_RESULT_UNKNOWN_OPTION, "ssl"},
        {"redis://:%ff@h", FENCEPOST_RESULT_INVALID_URL, "UTF-8"},
        {"redis://:%4@h", FENCEPOST_RESULT_INVALID_URL, "UTF-8"},
        {"redis://h?ca=/ca.pem", FENCEPOST_RESULT_UNKNOWN_OPTION, "ca"},
        {"rediss://h?ca=", FENCEPOST_RESULT_INVALID_URL, "certificates"},
        {"memory:a/b", FENCEPOST_RESULT_INVALID_URL, "plain name"},
        {"zk://no-such-host.invalid:1", FENCEPOST_RESULT_UNREACHABLE, "no-such-host.invalid"},
        {"\xff", FENCEPOST_RESULT_BAD_ARGUMENT, "UTF-8"},
    };
    fencepost_client *client = NULL;
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_FAULT(fencepost_connect(rows[i].url, &client), rows[i].expected, rows[i].words);
    CHECK(client == NULL);
    CHECK_RESULT(fencepost_connect(NULL, &client), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_connect("memory:", NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_zookeeper_connect("redis://h", &client), FENCEPOST_RESULT_INVALID_URL);
    CHECK_RESULT(fencepost_redis_connect("zk://h", &client), FENCEPOST_RESULT_INVALID_URL);
    CHECK_RESULT(fencepost_connect("redis://u:sec%72et@h:0/", &client), FENCEPOST_RESULT_INVALID_URL);
    CHECK(strstr(fencepost_detail(), "secret") == NULL && strstr(fencepost_detail(), "%72") == NULL);
}

static void times(enum family family) {
    static const int64_t wrong[] = {0, -1, INT64_MIN};
    fencepost_client *client = client_of(url(family, ""));
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;
    fencepost_lock *lock;
    size_t i;

    CHECK_RESULT(fencepost_lock_new(client, new_name("times"), &lock), FENCEPOST_OK);
    for (i = 0; i < 3; i++) {
        CHECK_FAULT(fencepost_lock_acquire(lock, wrong[i], &grant), FENCEPOST_RESULT_NOT_POSITIVE, "try");
        CHECK_RESULT(fencepost_lock_acquire_start(lock, wrong[i], &attempt), FENCEPOST_RESULT_NOT_POSITIVE);
        CHECK_FAULT(fencepost_lock_set_max_hold(lock, wrong[i]), FENCEPOST_RESULT_NOT_POSITIVE, "max_hold");
    }
    CHECK_RESULT(fencepost_lock_acquire(lock, INT64_MAX - 1, &grant), FENCEPOST_RESULT_TOO_LONG);
    if (family != ZOOKEEPER) { /* `memory:` checks like Redis */
        for (i = 0; i < 3; i++)
            CHECK_FAULT(fencepost_lock_set_ttl(lock, wrong[i]), FENCEPOST_RESULT_NOT_POSITIVE, "ttl");
        CHECK_FAULT(fencepost_lock_set_ttl(lock, 4), FENCEPOST_RESULT_LEASE_TOO_SHORT, "margin");
        CHECK_RESULT(fencepost_lock_set_ttl(lock, INT64_MAX), FENCEPOST_RESULT_TOO_LONG);
        CHECK_RESULT(fencepost_lock_set_ttl(lock, 1000), FENCEPOST_OK);
    } else {
        CHECK_FAULT(fencepost_lock_set_ttl(lock, 1000), FENCEPOST_RESULT_UNKNOWN_OPTION, "ttl");
        CHECK_FAULT(fencepost_lock_set_renew(lock, false), FENCEPOST_RESULT_UNKNOWN_OPTION, "renew");
    }
    CHECK(grant == NULL && attempt == NULL);
    /* The refused calls have changed nothing. */
    CHECK_RESULT(fencepost_lock_acquire(lock, LONG, &grant), FENCEPOST_OK);
    let_go(grant);
    fencepost_lock_free(lock);
    close_client(client);
}

static void nothing_at_all(void) {
    fencepost_client *client = client_of("memory:");
    fencepost_grant *grant = NULL;
    fencepost_attempt *attempt = NULL;
    fencepost_lock *lock;

    CHECK_RESULT(fencepost_acquire(NULL, "x", 1, &grant), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_acquire(client, NULL, 1, &grant), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_acquire(client, "x", 1, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_try_acquire(NULL, "x", &grant), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_lock_new(client, "x", NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_lock_new(client, "x", &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire(lock, 1, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_lock_acquire(NULL, 1, &grant), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, 1, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_lock_try_acquire_start(NULL, &attempt), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_lock_set_ttl(NULL, 1), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_attempt_finish(NULL, &grant), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_attempt_cancel(NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK(fencepost_attempt_ahead(NULL) == -1);
    CHECK_RESULT(fencepost_release(NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_extend(NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_grant_loss(NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK(fencepost_grant_fence(NULL) == 0 && !fencepost_grant_is_valid(NULL) && !fencepost_grant_is_lost(NULL));
    CHECK(fencepost_grant_remaining(NULL) == 0);
    CHECK_RESULT(fencepost_close(NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_client_process(NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK(fencepost_client_fd(NULL) == -1 && fencepost_client_timeout(NULL) == -1);
    fencepost_grant_free(NULL);
    CHECK_RESULT(fencepost_grant_wait_revoke_requested(NULL, 1), FENCEPOST_RESULT_NULL_POINTER);
    CHECK(!fencepost_grant_revoke_requested(NULL) && fencepost_grant_mixed_layouts(NULL) == NULL);
    fencepost_attempt_free(NULL);
    fencepost_lock_free(NULL);
    fencepost_client_free(NULL);
    fencepost_lock_free(lock);
    close_client(client);
}

static void release_without_a_grant(void) {
    fencepost_client *client = client_of("memory:");
    fencepost_grant *grant = hold(client, "x");

    CHECK_RESULT(fencepost_release_finish(grant), FENCEPOST_RESULT_NOT_HELD);
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_OK);
    CHECK_FAULT(fencepost_release(grant), FENCEPOST_RESULT_NOT_HELD, "released");
    fencepost_grant_free(grant);
    close_client(client);
}

/* A child's calls on the parent's objects fail at once, and the parent is not affected. */
static int
in_the_child(fencepost_client *client, fencepost_lock *lock, fencepost_grant *grant, fencepost_attempt *attempt) {
    fencepost_contenders *contenders;
    fencepost_client *own;
    fencepost_grant *other;

    CHECK_FAULT(fencepost_acquire(client, "y", 1, &other), FENCEPOST_RESULT_WRONG_PROCESS, "fork");
    CHECK_RESULT(fencepost_try_acquire(client, "y", &other), FENCEPOST_RESULT_WRONG_PROCESS);
    CHECK_RESULT(fencepost_lock_acquire(lock, 1, &other), FENCEPOST_RESULT_WRONG_PROCESS);
    CHECK_RESULT(fencepost_lock_set_ttl(lock, 1000), FENCEPOST_RESULT_WRONG_PROCESS);
    CHECK_RESULT(fencepost_lock_open(client, "y", NULL, &lock), FENCEPOST_RESULT_WRONG_PROCESS);
    CHECK_RESULT(fencepost_try_acquire_with(client, "y", NULL, &other), FENCEPOST_RESULT_WRONG_PROCESS);
    CHECK_RESULT(fencepost_lock_contenders(lock, &contenders), FENCEPOST_RESULT_WRONG_PROCESS);
    CHECK_RESULT(fencepost_grant_wait_revoke_requested(grant, 1), FENCEPOST_RESULT_WRONG_PROCESS);
    CHECK(!fencepost_grant_revoke_requested(grant) && fencepost_grant_mixed_layouts(grant) == NULL);
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_RESULT_WRONG_PROCESS);
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_RESULT_WRONG_PROCESS);
    CHECK_RESULT(fencepost_grant_loss(grant), FENCEPOST_RESULT_WRONG_PROCESS);
    CHECK(!fencepost_grant_is_valid(grant) && fencepost_grant_remaining(grant) == 0);
    CHECK_RESULT(fencepost_attempt_finish(attempt, &other), FENCEPOST_RESULT_WRONG_PROCESS);
    CHECK_RESULT(fencepost_client_process(client), FENCEPOST_RESULT_WRONG_PROCESS);
    CHECK_RESULT(fencepost_close(client), FENCEPOST_RESULT_WRONG_PROCESS);
    fencepost_attempt_free(attempt);
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    fencepost_client_free(client);
    /* A client of the child works. */
    own = client_of("memory:");
    let_go(hold(own, "x"));
    close_client(own);
    return check_broken == 0 ? 0 : 1;
}

static void use_after_fork(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("fork");
    fencepost_grant *grant = hold(client, name), *none;
    fencepost_attempt *attempt;
    fencepost_lock *lock;
    char verdict = 'n';
    int pipes[2];
    pid_t child;

    NEED(pipe(pipes) == 0);
    CHECK_RESULT(fencepost_lock_new(client, name, &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        alarm(LONG / 1000);
        verdict = in_the_child(client, lock, grant, attempt) == 0 ? 'y' : 'n';
        if (write(pipes[1], &verdict, 1) == 1)
            kill(getpid(), SIGKILL); /* skips the cleanup of the parent's objects, also by a memory checker */
    }
    close(pipes[1]);
    CHECK(read(pipes[0], &verdict, 1) == 1 && verdict == 'y');
    close(pipes[0]);
    waitpid(child, NULL, 0);
    CHECK(fencepost_grant_is_valid(grant));
    CHECK_RESULT(fencepost_attempt_finish(attempt, &none), FENCEPOST_RESULT_PENDING);
    fencepost_attempt_free(attempt);
    let_go(grant);
    fencepost_lock_free(lock);
    close_client(client);
}

/* ---- other data on the server ---- */

static void unrelated_nodes_in_the_directory(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, ""));
    zhandle_t *raw = zookeeper_open(address(ZOOKEEPER), 4000);
    const char *name = new_name("unrelated-nodes");
    fencepost_grant *grant = NULL;
    char path[2048];

    let_go(hold(client, name));
    snprintf(path, sizeof path, "/%s/notes", name);
    CHECK(zoo_create(raw, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0) == ZOK);
    snprintf(path, sizeof path, "/%s/lock-of-a-door", name);
    CHECK(zoo_create(raw, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0) == ZOK);
    let_go(hold(client, name)); /* unrelated nodes hold nothing */
    snprintf(path, sizeof path, "/%s/0123__lock__0000000001", name);
    CHECK(zoo_create(raw, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0) == ZOK);
    /* The client waits for a contender of another layout that came first. */
    CHECK_RESULT(fencepost_acquire(client, name, 200, &grant), FENCEPOST_RESULT_TIMEOUT);
    CHECK_RESULT(fencepost_try_acquire(client, name, &grant), FENCEPOST_RESULT_NOT_AVAILABLE);
    zoo_delete(raw, path, -1);
    let_go(hold(client, name));
    zookeeper_close(raw);
    close_client(client);
}

static void forbidden_directory(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, ""));
    zhandle_t *raw = zookeeper_open(address(ZOOKEEPER), 4000);
    const char *name = new_name("forbidden");
    fencepost_grant *grant = NULL;
    char path[2048];

    let_go(hold(client, new_name("makes-the-parent")));
    snprintf(path, sizeof path, "/%s", name);
    CHECK(zoo_create(raw, path, NULL, -1, &ZOO_READ_ACL_UNSAFE, 0, NULL, 0) == ZOK);
    CHECK_RESULT(fencepost_acquire(client, name, LONG, &grant), FENCEPOST_RESULT_NO_PERMISSION);
    CHECK_RESULT(fencepost_try_acquire(client, name, &grant), FENCEPOST_RESULT_NO_PERMISSION);
    zoo_delete(raw, path, -1);
    zookeeper_close(raw);
    close_client(client);
}

static void key_of_another_type(void) {
    fencepost_client *client = client_of(url(REDIS, ""));
    const char *name = new_name("list");
    fencepost_grant *grant = NULL;

    freeReplyObject(redis("LPUSH %s x", name));
    CHECK_FAULT(fencepost_acquire(client, name, LONG, &grant), FENCEPOST_RESULT_WRONG_TYPE, "WRONGTYPE");
    freeReplyObject(redis("DEL %s", name));
    close_client(client);
}

/* Returns a port that no program uses at the moment. */
static int free_port(void) {
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof where;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    CHECK(bind(listener, (struct sockaddr *)&where, size) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&where, &size) == 0);
    close(listener);
    return ntohs(where.sin_port);
}

static void server_without_scripts(void) {
    char directory[] = "/tmp/fencepost-c-XXXXXX", port[16], where[64];
    fencepost_grant *grant = NULL;
    fencepost_client *client;
    pid_t server;

    NEED(mkdtemp(directory) != NULL);
    snprintf(port, sizeof port, "%d", free_port());
    server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(open("/dev/null", O_WRONLY), 1);
        execlp(
            "redis-server", "redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--dir", directory,
            "--rename-command", "EVALSHA", "", "--rename-command", "EVAL", "", (char *)NULL);
        _exit(127);
    }
    snprintf(where, sizeof where, "redis://127.0.0.1:%s", port);
    client = client_of(where);
    CHECK_FAULT(fencepost_acquire(client, "x", LONG, &grant), FENCEPOST_RESULT_UNSUPPORTED, "unknown command");
    close_client(client);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    CHECK(rmdir(directory) == 0);
}

static void user_without_scripts(void) {
    fencepost_grant *grant = NULL;
    fencepost_client *client;

    freeReplyObject(redis("ACL SETUSER c-tests on >pw ~* &* +@all -eval -evalsha"));
    client = client_of(url_of("redis://c-tests:pw@", address(REDIS), ""));
    CHECK_FAULT(fencepost_acquire(client, new_name("x"), LONG, &grant), FENCEPOST_RESULT_NO_PERMISSION, "evalsha");
    close_client(client);
    freeReplyObject(redis("ACL DELUSER c-tests"));
}

static void greetings(void) {
    const char *guarded = getenv("FENCEPOST_REDIS_AUTH"), *password = getenv("FENCEPOST_REDIS_AUTH_PASSWORD");
    fencepost_grant *grant = NULL;
    fencepost_client *client = client_of(url(REDIS, "/999999"));

    CHECK_FAULT(fencepost_acquire(client, "x", LONG, &grant), FENCEPOST_RESULT_SERVER_ERROR, "DB index");
    close_client(client);
    client = client_of(url(REDIS, "/3"));
    let_go(hold(client, "x"));
    close_client(client);
    client = client_of(url_of("redis://:unasked@", address(REDIS), ""));
    CHECK_FAULT(fencepost_acquire(client, "x", LONG, &grant), FENCEPOST_RESULT_SERVER_ERROR, "AUTH");
    close_client(client);
    if (guarded == NULL)
        return;
    client = client_of(url_of("redis://:wrong@", guarded, ""));
    CHECK_FAULT(fencepost_acquire(client, "x", LONG, &grant), FENCEPOST_RESULT_AUTH_FAILED, "WRONGPASS");
    CHECK_RESULT(fencepost_try_acquire(client, "x", &grant), FENCEPOST_RESULT_AUTH_FAILED);
    close_client(client);
    client = client_of(url_of("redis://", guarded, ""));
    CHECK_RESULT(fencepost_acquire(client, "x", LONG, &grant), FENCEPOST_RESULT_AUTH_FAILED);
    close_client(client);
    client = client_of(url_of(url_of("redis://:", password, "@"), guarded, ""));
    let_go(hold(client, "x"));
    close_client(client);
}

/* A client of a server that does not exist. */
static void nobody_listens(void) {
    static const char *const urls[] = {"zk://127.0.0.1:1", "redis://127.0.0.1:1"};
    fencepost_grant *grant = NULL;
    int i;

    for (i = 0; i < 2; i++) {
        fencepost_client *client = client_of(urls[i]);
        int64_t before = millis();
        CHECK_RESULT(fencepost_acquire(client, "x", 300, &grant), FENCEPOST_RESULT_UNREACHABLE);
        CHECK(millis() - before < LONG);
        if (i == 1)
            CHECK(strstr(fencepost_detail(), "refused") != NULL);
        fencepost_close(client);
        fencepost_client_free(client);
    }
}

static void closed_client(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    fencepost_grant *grant = NULL;
    fencepost_lock *lock;

    CHECK_RESULT(fencepost_lock_new(client, "x", &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
    CHECK_FAULT(fencepost_acquire(client, "x", 1, &grant), FENCEPOST_RESULT_CLIENT_CLOSED, "closed");
    CHECK_RESULT(fencepost_lock_acquire(lock, 1, &grant), FENCEPOST_RESULT_CLIENT_CLOSED);
    CHECK_RESULT(fencepost_lock_new(client, "x", &lock), FENCEPOST_RESULT_CLIENT_CLOSED);
    CHECK_RESULT(fencepost_client_process(client), FENCEPOST_RESULT_CLIENT_CLOSED);
    fencepost_client_free(client);
    fencepost_lock_free(lock);
}

int main(void) {
    int family;

    TEST(addresses);
    TEST(nothing_at_all);
    TEST(release_without_a_grant);
    for (family = 0; family < FAMILIES; family++) {
        if (address((enum family)family) == NULL)
            continue;
#define ON(name) TEST_ON(name, (enum family)family, label((enum family)family))
        ON(times);
        ON(closed_client);
        ON(use_after_fork);
    }
    TEST(nobody_listens);
    if (address(ZOOKEEPER) != NULL) {
        TEST(unrelated_nodes_in_the_directory);
        TEST(forbidden_directory);
    }
    if (address(REDIS) != NULL) {
        TEST(key_of_another_type);
        TEST(user_without_scripts);
        TEST(server_without_scripts);
        TEST(greetings);
    }
    return check_close();
}
