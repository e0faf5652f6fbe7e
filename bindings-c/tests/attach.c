/* Clients on connections that the program already has: a client uses them, returns them unchanged, and never closes
 * them. */
#include <fencepost-redis.h>
#include <fencepost-zookeeper.h>
#include <poll.h>

#include "loop.h"
#include "support.h"

/* ---- ZooKeeper ---- */

static int watch_events;

static void own_watcher(zhandle_t *handle, int type, int state, const char *path, void *context) {
    (void)handle, (void)type, (void)state, (void)path, (void)context;
    __atomic_add_fetch(&watch_events, 1, __ATOMIC_RELAXED);
}

static zhandle_t *own_handle(int timeout) {
    zhandle_t *handle = zookeeper_open(address(ZOOKEEPER), timeout);

    zoo_set_watcher(handle, own_watcher);
    return handle;
}

static void handle_is_given_back(void) {
    zhandle_t *handle = own_handle(4000);
    fencepost_client *client, *second;
    fencepost_grant *grant, *waiting = NULL;
    const char *name = new_name("attached");
    char directory[1100], node[2048];
    struct Stat stat;

    CHECK_RESULT(fencepost_zookeeper_attach(handle, "shop", NULL, &client), FENCEPOST_OK);
    CHECK_FAULT(fencepost_zookeeper_attach(handle, NULL, NULL, &second), FENCEPOST_RESULT_BAD_ARGUMENT, "already");
    grant = hold(client, name);
    NEED(grant != NULL);
    snprintf(directory, sizeof directory, "/shop/%s", name);
    CHECK(zookeeper_find(handle, directory, "-lock-", node, sizeof node));
    CHECK_RESULT(fencepost_acquire(client, name, BRIEF, &waiting), FENCEPOST_RESULT_TIMEOUT);
    CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
    CHECK(zoo_set_watcher(handle, NULL) == own_watcher);
    CHECK(zoo_exists(handle, node, 0, &stat) == ZNONODE);
    CHECK(zoo_exists(handle, "/", 0, &stat) == ZOK);
    fencepost_grant_free(grant);
    fencepost_client_free(client);
    /* The handle may have another client now. */
    CHECK_RESULT(fencepost_zookeeper_attach(handle, NULL, NULL, &client), FENCEPOST_OK);
    let_go(hold(client, name));
    close_client(client);
    zookeeper_close(handle);
}

/* A waiter for a permit watches a list. The watch ends with its client, and a later change of the list has no effect.
 */
static void watched_list_is_left_alone(void) {
    const fencepost_options *permit = FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = 1);
    fencepost_client *client, *other = client_of(url(ZOOKEEPER, ""));
    zhandle_t *handle = own_handle(4000);
    const char *name = new_name("watched");
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;
    fencepost_lock *lock = NULL;
    char directory[1100];

    CHECK_RESULT(fencepost_acquire_with(other, name, permit, LONG, &grant), FENCEPOST_OK);
    CHECK_RESULT(fencepost_zookeeper_attach(handle, NULL, NULL, &client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_open(client, name, permit, &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    EVENTUALLY(fencepost_attempt_ahead(attempt) == 1);
    CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    fencepost_client_free(client);
    let_go(grant);
    snprintf(directory, sizeof directory, "/%s/leases", name);
    CHECK(zoo_exists(handle, directory, 0, NULL) == ZOK);
    let_go(hold(other, new_name("watched")));
    zookeeper_close(handle);
    close_client(other);
}

static void access_list_is_used(void) {
    zhandle_t *handle = own_handle(4000);
    struct ACL_vector found = {0, NULL};
    fencepost_client *client;
    fencepost_grant *grant;
    const char *name = new_name("acl");
    char directory[1100], node[2048] = "";
    struct Stat stat;

    CHECK_RESULT(fencepost_zookeeper_attach(handle, NULL, &ZOO_CREATOR_ALL_ACL, &client), FENCEPOST_OK);
    /* The handle has not authenticated, so the creator has no identity, and the server refuses this ACL. */
    grant = NULL;
    CHECK(fencepost_acquire(client, name, LONG, &grant) / 100 == 3);
    CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
    fencepost_client_free(client);
    CHECK(zoo_add_auth(handle, "digest", "us:pw", 5, NULL, NULL) == ZOK);
    CHECK_RESULT(fencepost_zookeeper_attach(handle, NULL, &ZOO_CREATOR_ALL_ACL, &client), FENCEPOST_OK);
    grant = hold(client, name);
    snprintf(directory, sizeof directory, "/%s", name);
    CHECK(zookeeper_find(handle, directory, "-lock-", node, sizeof node));
    CHECK(zoo_get_acl(handle, node, &found, &stat) == ZOK);
    CHECK(found.count == 1 && strcmp(found.data[0].id.scheme, "digest") == 0);
    deallocate_ACL_vector(&found);
    let_go(grant);
    close_client(client);
    zookeeper_close(handle);
}

/* The session is ended at once, by its number and password, as an operator would. */
static void credentials_that_are_refused(void) {
    zhandle_t *handle = own_handle(4000);
    fencepost_client *client;
    fencepost_grant *grant = NULL;

    CHECK_RESULT(fencepost_zookeeper_attach(handle, NULL, NULL, &client), FENCEPOST_OK);
    CHECK(zoo_add_auth(handle, "no such scheme", "x", 1, NULL, NULL) == ZOK);
    CHECK_FAULT(fencepost_acquire(client, new_name("x"), LONG, &grant), FENCEPOST_RESULT_AUTH_FAILED, "");
    fencepost_close(client);
    fencepost_client_free(client);
    zookeeper_close(handle);
}

static void session_is_expired(void) {
    zhandle_t *handle = own_handle(20000);
    fencepost_client *client, *other = client_of(url(ZOOKEEPER, ""));
    const char *name = new_name("attached-expired");
    fencepost_grant *grant, *none = NULL;
    fencepost_result lost;
    char password[33];
    size_t i;

    CHECK_RESULT(fencepost_zookeeper_attach(handle, NULL, NULL, &client), FENCEPOST_OK);
    grant = hold(client, name);
    for (i = 0; i < 16; i++)
        snprintf(password + 2 * i, 3, "%02x", (unsigned char)zoo_client_id(handle)->passwd[i]);
    watch_events = 0;
    CHECK(
        control("session", "expire zookeeper 0x%llx %s", (long long)zoo_client_id(handle)->client_id, password) !=
        NULL);
    /* The end of the session deletes its nodes: the watch event may come first. */
    lost = fencepost_grant_wait_lost(grant, LONG);
    CHECK(lost == FENCEPOST_RESULT_SESSION_EXPIRED || lost == FENCEPOST_RESULT_DELETED);
    EVENTUALLY(__atomic_load_n(&watch_events, __ATOMIC_RELAXED) > 0); /* the caller's watcher gets the event, too */
    let_go(hold(other, name));
    CHECK_RESULT(fencepost_acquire(client, name, LONG, &none), FENCEPOST_RESULT_CONNECTION_CLOSED);
    fencepost_grant_free(grant);
    close_client(client);
    CHECK_RESULT(fencepost_zookeeper_attach(handle, NULL, NULL, &client), FENCEPOST_RESULT_BAD_ARGUMENT);
    zookeeper_close(handle);
    close_client(other);
}

/* ---- Redis ---- */

static void contexts_without_a_loop(void) {
    struct loop commands, subscriptions;
    fencepost_client *client, *other = client_of(url(REDIS, ""));
    fencepost_grant *grant, *none = NULL;
    const char *name = new_name("attached");

    NEED(loop_connect(&commands, address(REDIS)) && loop_connect(&subscriptions, address(REDIS)));
    loop_detach(&commands);
    CHECK_RESULT(
        fencepost_redis_attach(commands.context, subscriptions.context, &client), FENCEPOST_RESULT_BAD_ARGUMENT);
    loop_detach(&subscriptions);
    CHECK_RESULT(fencepost_redis_attach(commands.context, commands.context, &client), FENCEPOST_RESULT_BAD_ARGUMENT);
    CHECK_RESULT(fencepost_redis_attach(commands.context, subscriptions.context, &client), FENCEPOST_OK);
    grant = hold(other, name);
    CHECK_RESULT(fencepost_acquire(client, name, BRIEF, &none), FENCEPOST_RESULT_TIMEOUT);
    let_go(grant);
    let_go(hold(client, name));
    close_client(client);
    CHECK(commands.context->ev.addRead == NULL && commands.disconnects == 0 && subscriptions.disconnects == 0);
    /* They work as before. */
    loop_attach(&commands);
    loop_attach(&subscriptions);
    CHECK_RESULT(fencepost_redis_attach(commands.context, NULL, &client), FENCEPOST_OK);
    fencepost_client_free(client);
    redisAsyncFree(commands.context);
    redisAsyncFree(subscriptions.context);
    CHECK(commands.disconnects == 1 && subscriptions.disconnects == 1);
    close_client(other);
}

/* Runs the caller's loop until the attempt is decided. */
static fencepost_result
run(fencepost_client *client, struct loop **loops, int count, fencepost_attempt *attempt, fencepost_grant **grant) {
    int64_t end = millis() + LONG;
    int descriptor = fencepost_client_fd(client);
    fencepost_result result;

    while ((result = fencepost_attempt_finish(attempt, grant)) == FENCEPOST_RESULT_PENDING && millis() < end) {
        int timeout = fencepost_client_timeout(client);
        loop_turn(loops, count, descriptor, timeout < 0 ? 1000 : timeout);
        fencepost_client_process(client);
    }
    return result;
}

static void contexts_in_a_loop(void) {
    struct loop commands, subscriptions, *loops[2] = {&commands, &subscriptions};
    fencepost_client *client, *other = client_of(url(REDIS, ""));
    fencepost_grant *grant = NULL, *held;
    fencepost_attempt *attempt;
    fencepost_lock *lock;
    fencepost_result result;
    const char *name = new_name("looped");

    NEED(loop_connect(&commands, address(REDIS)) && loop_connect(&subscriptions, address(REDIS)));
    CHECK_RESULT(fencepost_redis_attach(commands.context, subscriptions.context, &client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_acquire(client, name, LONG, &grant), FENCEPOST_RESULT_WOULD_BLOCK);
    CHECK_RESULT(fencepost_lock_new(client, name, &lock), FENCEPOST_OK);

    held = hold(other, name);
    CHECK_RESULT(fencepost_lock_try_acquire_start(lock, &attempt), FENCEPOST_OK);
    CHECK_RESULT(run(client, loops, 2, attempt, &grant), FENCEPOST_RESULT_NOT_AVAILABLE);
    fencepost_attempt_free(attempt);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, 100, &attempt), FENCEPOST_OK);
    CHECK_RESULT(run(client, loops, 2, attempt, &grant), FENCEPOST_RESULT_TIMEOUT);
    fencepost_attempt_free(attempt);
    let_go(held);

    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    CHECK_RESULT(run(client, loops, 2, attempt, &grant), FENCEPOST_OK);
    fencepost_attempt_free(attempt);
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_RESULT_WOULD_BLOCK);
    CHECK_RESULT(fencepost_release_start(grant), FENCEPOST_OK);
    while ((result = fencepost_release_finish(grant)) == FENCEPOST_RESULT_PENDING)
        loop_turn(loops, 2, -1, 100);
    CHECK_RESULT(result, FENCEPOST_OK);
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    close_client(client);

    CHECK(commands.disconnects == 0 && subscriptions.disconnects == 0);
    /* The program's loop reads late messages of the subscription, and no client handles them. */
    loop_turn(loops, 2, -1, 100);
    redisAsyncFree(commands.context);
    redisAsyncFree(subscriptions.context);
    close_client(other);
}

/* The program's connection ends: the holder is notified when its lease ends, and the program's callback is called as
 * usual. */
static void connection_of_the_owner_ends(void) {
    struct loop commands, *loops[1] = {&commands};
    fencepost_client *client;
    fencepost_grant *grant = NULL;
    fencepost_attempt *attempt;
    fencepost_lock *lock;
    const char *name = new_name("owner-ends");

    NEED(loop_connect(&commands, address(REDIS)));
    CHECK_RESULT(fencepost_redis_attach(commands.context, NULL, &client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_new(client, name, &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_set_ttl(lock, 2000), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    CHECK_RESULT(run(client, loops, 1, attempt, &grant), FENCEPOST_OK);
    fencepost_attempt_free(attempt);
    redisAsyncFree(commands.context);
    CHECK(commands.disconnects == 1);
    while (!fencepost_grant_is_lost(grant)) {
        poll(NULL, 0, fencepost_client_timeout(client));
        fencepost_client_process(client);
    }
    CHECK(fencepost_grant_loss(grant) / 100 == 4);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    fencepost_client_process(client);
    fencepost_grant_free(grant);
    CHECK_RESULT(fencepost_attempt_finish(attempt, &grant), FENCEPOST_RESULT_CONNECTION_CLOSED);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    fencepost_client_free(client);
    freeReplyObject(redis("DEL %s", name));
}

/* A connection that monitors or has subscriptions accepts no commands. */
static void busy_contexts(void) {
    static const char *const COMMANDS[] = {"MONITOR", "SUBSCRIBE c-tests"};
    size_t i;

    for (i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        struct loop loop;
        fencepost_client *client;

        NEED(loop_connect(&loop, address(REDIS)));
        redisAsyncCommand(loop.context, NULL, NULL, COMMANDS[i]);
        CHECK_FAULT(fencepost_redis_attach(loop.context, NULL, &client), FENCEPOST_RESULT_BAD_ARGUMENT, "monitors");
        redisAsyncFree(loop.context);
    }
}

/* hiredis would treat the output of the monitor as replies to subscriptions. */
static void a_monitor_takes_no_subscriptions(void) {
    struct loop commands, monitor;
    fencepost_client *client = NULL;

    NEED(loop_connect(&commands, address(REDIS)) && loop_connect(&monitor, address(REDIS)));
    redisAsyncCommand(monitor.context, NULL, NULL, "MONITOR");
    CHECK_FAULT(
        fencepost_redis_attach(commands.context, monitor.context, &client), FENCEPOST_RESULT_BAD_ARGUMENT, "monitors");
    fencepost_client_free(client);
    redisAsyncFree(commands.context);
    redisAsyncFree(monitor.context);
}

static void unconnected_contexts(void) {
    redisAsyncContext *context = redisAsyncConnect("127.0.0.1", 1);
    fencepost_client *client;

    CHECK_FAULT(fencepost_redis_attach(context, NULL, &client), FENCEPOST_RESULT_BAD_ARGUMENT, "not connected");
    CHECK_RESULT(fencepost_redis_attach(NULL, NULL, &client), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_zookeeper_attach(NULL, NULL, NULL, &client), FENCEPOST_RESULT_NULL_POINTER);
    redisAsyncFree(context);
}

static int closed;

/* Closes the handle, like ZooKeeper's own examples. */
static void closing_watcher(zhandle_t *handle, int type, int state, const char *path, void *context) {
    (void)path, (void)context;
    if (type == ZOO_SESSION_EVENT && state == ZOO_EXPIRED_SESSION_STATE) {
        zookeeper_close(handle);
        __atomic_add_fetch(&closed, 1, __ATOMIC_SEQ_CST);
    }
}

static void watcher_closes_its_handle(void) {
    zhandle_t *handle = zookeeper_open(address(ZOOKEEPER), 4000);
    fencepost_grant *grant, *other = NULL;
    fencepost_client *client;
    char password[40];
    int i;

    zoo_set_watcher(handle, closing_watcher);
    CHECK_RESULT(fencepost_zookeeper_attach(handle, NULL, NULL, &client), FENCEPOST_OK);
    grant = hold(client, new_name("closing"));
    NEED(grant != NULL);
    for (i = 0; i < 16; i++)
        sprintf(password + 2 * i, "%02x", (unsigned char)zoo_client_id(handle)->passwd[i]);
    closed = 0;
    NEED(
        control("session", "expire zookeeper 0x%llx %s", (long long)zoo_client_id(handle)->client_id, password) !=
        NULL);
    EVENTUALLY(__atomic_load_n(&closed, __ATOMIC_SEQ_CST) == 1);
    /* The client reported the loss before the program's watcher got the end of the session. */
    CHECK(fencepost_grant_is_lost(grant));
    CHECK_RESULT(fencepost_acquire(client, new_name("closing"), LONG, &other), FENCEPOST_RESULT_CONNECTION_CLOSED);
    close_client(client);
    fencepost_grant_free(grant);
}

int main(void) {
    if (address(ZOOKEEPER) != NULL) {
        TEST(handle_is_given_back);
        TEST(watched_list_is_left_alone);
        TEST(access_list_is_used);
        TEST(credentials_that_are_refused);
        TEST(session_is_expired);
        TEST(watcher_closes_its_handle);
    }
    if (address(REDIS) != NULL) {
        TEST(contexts_without_a_loop);
        TEST(contexts_in_a_loop);
        TEST(connection_of_the_owner_ends);
    }
    TEST(busy_contexts);
    TEST(a_monitor_takes_no_subscriptions);
    TEST(unconnected_contexts);
    return check_close();
}
