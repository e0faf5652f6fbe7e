/* Clients in the program's event loop: one descriptor, no thread, nothing blocks. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static int threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;

    while (readdir(tasks) != NULL)
        count++;
    closedir(tasks);
    return count - 2;
}

/* One turn of a loop with two clients in it. */
static void turn(fencepost_client *first, fencepost_client *second) {
    fencepost_client *clients[2] = {first, second};
    struct pollfd sources[2];
    int i, timeout = 1000;

    for (i = 0; i < 2; i++) {
        int own = fencepost_client_timeout(clients[i]);
        sources[i].fd = fencepost_client_fd(clients[i]);
        sources[i].events = POLLIN;
        if (own >= 0 && own < timeout)
            timeout = own;
    }
    poll(sources, 2, timeout);
    for (i = 0; i < 2; i++)
        CHECK_RESULT(fencepost_client_process(clients[i]), FENCEPOST_OK);
}

static fencepost_result
decide(fencepost_client *mine, fencepost_client *other, fencepost_attempt *attempt, fencepost_grant **grant) {
    int64_t end = millis() + LONG;
    fencepost_result result;

    while ((result = fencepost_attempt_finish(attempt, grant)) == FENCEPOST_RESULT_PENDING && millis() < end)
        turn(mine, other);
    return result;
}

static void two_clients_take_turns(enum family family) {
    int before = threads(), rounds, turns;
    fencepost_client *clients[2] = {client_of(url(family, "")), client_of(url(family, ""))};
    fencepost_attempt *attempts[2] = {NULL, NULL};
    fencepost_grant *grant = NULL;
    fencepost_lock *locks[2];
    uint64_t fence = 0;
    const char *name = new_name("turns");
    int i;

    for (i = 0; i < 2; i++) {
        CHECK(fencepost_client_fd(clients[i]) >= 0);
        CHECK(fencepost_client_fd(clients[i]) == fencepost_client_fd(clients[i]));
        CHECK_RESULT(fencepost_lock_new(clients[i], name, &locks[i]), FENCEPOST_OK);
        CHECK_RESULT(fencepost_lock_acquire_start(locks[i], LONG, &attempts[i]), FENCEPOST_OK);
        while (i == 0 && fencepost_attempt_finish(attempts[0], &grant) == FENCEPOST_RESULT_PENDING)
            turn(clients[0], clients[1]);
    }
    CHECK(grant != NULL);
    for (rounds = 0; rounds < 6 && grant != NULL; rounds++) {
        i = rounds % 2; /* holds; the other one waits */
        CHECK(fencepost_grant_fence(grant) > fence);
        fence = fencepost_grant_fence(grant);
        fencepost_attempt_free(attempts[i]);
        /* Nothing happens for a while. Then the lock is released, and acquired again. */
        for (turns = 0; turns < 3 && family != REDIS; turns++)
            poll(NULL, 0, 2);
        CHECK_RESULT(fencepost_release_start(grant), FENCEPOST_OK);
        while (fencepost_release_finish(grant) == FENCEPOST_RESULT_PENDING)
            turn(clients[0], clients[1]);
        fencepost_grant_free(grant);
        grant = NULL;
        CHECK_RESULT(decide(clients[0], clients[1], attempts[1 - i], &grant), FENCEPOST_OK);
        CHECK_RESULT(fencepost_lock_acquire_start(locks[i], LONG, &attempts[i]), FENCEPOST_OK);
    }
    /* libzookeeper_mt has two threads a handle; fencepost adds none. */
    CHECK(threads() - before == (family == ZOOKEEPER && is_threaded() ? 4 : 0));
    fencepost_grant_free(grant);
    for (i = 0; i < 2; i++) {
        fencepost_attempt_free(attempts[i]);
        fencepost_lock_free(locks[i]);
    }
    for (i = 0; i < 2; i++)
        close_client(clients[i]);
}

static void a_timeout_is_kept(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("loop-timeout");
    fencepost_grant *held = hold(other, name), *grant = NULL;
    fencepost_attempt *attempt;
    fencepost_lock *lock;
    int64_t before;

    /* Connects first, so that the time below is only that of the wait. This also shows that a loop may follow blocking
     * calls. */
    let_go(hold(mine, new_name("warm")));
    CHECK(fencepost_client_fd(mine) >= 0);
    CHECK_RESULT(fencepost_lock_new(mine, name, &lock), FENCEPOST_OK);
    before = millis();
    CHECK_RESULT(fencepost_lock_acquire_start(lock, 200, &attempt), FENCEPOST_OK);
    CHECK_RESULT(decide(mine, other, attempt, &grant), FENCEPOST_RESULT_TIMEOUT);
    CHECK(millis() - before >= 195);
    fencepost_attempt_free(attempt);
    CHECK_RESULT(fencepost_lock_try_acquire_start(lock, &attempt), FENCEPOST_OK);
    CHECK_RESULT(decide(mine, other, attempt, &grant), FENCEPOST_RESULT_NOT_AVAILABLE);
    fencepost_attempt_free(attempt);
    let_go(held);
    fencepost_lock_free(lock);
    close_client(mine);
    close_client(other);
}

/* One turn of an edge-triggered loop: if there is something to read, there has to be an edge. */
static void turn_at_an_edge(fencepost_client *client, int edges) {
    struct pollfd source = {fencepost_client_fd(client), POLLIN, 0};
    struct epoll_event edge;

    if (poll(&source, 1, fencepost_client_timeout(client)) > 0)
        CHECK(epoll_wait(edges, &edge, 1, 0) == 1);
    CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
}

static fencepost_result
claim_at_edges(fencepost_idempotency *operations, fencepost_client *client, int edges, fencepost_grant **claim) {
    fencepost_attempt *attempt = NULL;
    fencepost_result result;

    CHECK_RESULT(fencepost_claim_start(operations, "order-17", "item 42", 7, LONG, &attempt), FENCEPOST_OK);
    while ((result = fencepost_attempt_finish(attempt, claim)) == FENCEPOST_RESULT_PENDING)
        turn_at_an_edge(client, edges);
    fencepost_attempt_free(attempt);
    return result;
}

/* A reply that is longer than the driver's buffer takes several turns. */
static void edges_are_enough(enum family family) {
    size_t size = 900000, got = 0;
    char *receipt = calloc(1, size);
    fencepost_client *client = client_of(url(family, ""));
    fencepost_idempotency *operations = NULL;
    struct epoll_event edge = {EPOLLIN | EPOLLET, {0}};
    fencepost_grant *claim = NULL;
    int edges = epoll_create1(EPOLL_CLOEXEC);
    const void *stored;

    CHECK(epoll_ctl(edges, EPOLL_CTL_ADD, fencepost_client_fd(client), &edge) == 0);
    CHECK_RESULT(fencepost_idempotency_open(client, new_name("edges"), NULL, &operations), FENCEPOST_OK);
    CHECK_RESULT(claim_at_edges(operations, client, edges, &claim), FENCEPOST_OK);
    CHECK_RESULT(fencepost_complete_start(claim, NULL, receipt, size), FENCEPOST_OK);
    while (fencepost_complete_finish(claim) == FENCEPOST_RESULT_PENDING)
        turn_at_an_edge(client, edges);
    fencepost_grant_free(claim);
    CHECK_RESULT(claim_at_edges(operations, client, edges, &claim), FENCEPOST_RESULT_REPLAYED);
    CHECK_RESULT(fencepost_claim_result(claim, &stored, &got), FENCEPOST_OK);
    CHECK(got == size);
    fencepost_grant_free(claim);
    fencepost_idempotency_free(operations);
    close_client(client);
    close(edges);
    free(receipt);
}

/* Waits in the loop until a grant is valid again. */
static void until_valid(fencepost_client *client, const fencepost_grant *grant) {
    int64_t end = millis() + LONG;

    while (!fencepost_grant_is_valid(grant) && millis() < end)
        turn(client, client);
    CHECK(fencepost_grant_is_valid(grant));
}

/* A program that has not run its loop for a while makes a request: the client detects the lost connection, sends
 * nothing, and reports its grants as suspended. */
static void a_request_finds_the_connection_gone(void) {
    const char *place, *proxy = proxy_open("zookeeper", &place);
    fencepost_client *client = client_of(url_of("zk://", place, "?session_timeout=40000"));
    fencepost_grant *held = hold(client, new_name("gone")), *grant = NULL;
    fencepost_attempt *attempt;
    fencepost_lock *lock;
    struct pollfd source = {.events = POLLIN};

    CHECK((source.fd = fencepost_client_fd(client)) >= 0);
    CHECK_RESULT(fencepost_lock_new(client, new_name("gone"), &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
    CHECK(control("id", "proxy-cut %s", proxy) != NULL);
    CHECK(poll(&source, 1, LONG) == 1);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    CHECK(!fencepost_grant_is_valid(held));
    CHECK(control("id", "proxy-heal %s", proxy) != NULL);
    CHECK_RESULT(decide(client, client, attempt, &grant), FENCEPOST_OK);
    until_valid(client, held);
    fencepost_grant_free(grant);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    fencepost_grant_free(held);
    close_client(client);
    control("id", "proxy-close %s", proxy);
}

/* A child has inherited the socket, and keeps it open: the client polls only its next connection. */
static void a_child_keeps_the_old_socket(void) {
    const char *place, *proxy = proxy_open("zookeeper", &place);
    fencepost_client *client = client_of(url_of("zk://", place, "?session_timeout=40000"));
    fencepost_grant *grant = hold(client, new_name("child"));
    struct pollfd source = {.events = POLLIN};
    int turns;
    pid_t child;

    CHECK((source.fd = fencepost_client_fd(client)) >= 0);
    fflush(stdout);
    if ((child = fork()) == 0) {
        pause();
        _exit(0);
    }
    CHECK(control("id", "proxy-cut %s", proxy) != NULL);
    CHECK(control("id", "proxy-heal %s", proxy) != NULL);
    while (fencepost_grant_is_valid(grant))
        turn(client, client);
    until_valid(client, grant);
    for (turns = 0; turns < 100 && poll(&source, 1, 50) != 0; turns++)
        CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
    CHECK(turns < 100);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    fencepost_grant_free(grant);
    close_client(client);
    control("id", "proxy-close %s", proxy);
}

/* Checks that this program uses the ZooKeeper library that it has to test. Otherwise its tests would pass with the
 * other library. */
static void the_library_is_the_one_in_question(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, ""));

    CHECK(is_threaded() == (!WITH_ST || strstr(program_invocation_short_name, "-threaded") != NULL));
    close_client(client);
}

static void a_lease_is_renewed_by_the_loop(void) {
    fencepost_client *client = client_of(url(REDIS, "")), *other = client_of("memory:");
    fencepost_attempt *attempt;
    fencepost_grant *grant = NULL;
    fencepost_lock *lock;
    int64_t end;

    CHECK(fencepost_client_fd(client) >= 0);
    CHECK_RESULT(fencepost_lock_new(client, new_name("loop-renewal"), &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_set_ttl(lock, 2000), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    CHECK_RESULT(decide(client, other, attempt, &grant), FENCEPOST_OK);
    for (end = millis() + 3000; millis() < end;)
        turn(client, other);
    CHECK(fencepost_grant_is_valid(grant));
    /* A loop that does not run loses the lease, and the grant reports this at the next call. */
    poll(NULL, 0, 2500);
    CHECK(!fencepost_grant_is_valid(grant));
    CHECK(fencepost_grant_is_lost(grant));
    fencepost_grant_free(grant);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    close_client(client);
    close_client(other);
}

int main(void) {
    int family;

    for (family = 0; family < FAMILIES; family++) {
        if (address((enum family)family) == NULL)
            continue;
#define ON(name) TEST_ON(name, (enum family)family, label((enum family)family))
        ON(two_clients_take_turns);
        ON(a_timeout_is_kept);
        ON(edges_are_enough);
    }
    if (address(ZOOKEEPER) != NULL) {
        TEST(the_library_is_the_one_in_question);
        TEST(a_child_keeps_the_old_socket);
        if (!is_threaded()) /* libzookeeper_mt detects it in its own thread */
            TEST(a_request_finds_the_connection_gone);
    }
    if (address(REDIS) != NULL)
        TEST(a_lease_is_renewed_by_the_loop);
    return check_close();
}
