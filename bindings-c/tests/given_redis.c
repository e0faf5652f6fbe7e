/* Connections of the program that no event loop drives. The program's callbacks on them may make any call. */
#include <fencepost-redis.h>
#include <poll.h>

#include "idempotency.h"
#include "loop.h"
#include "relay.h"

static fencepost_client *client;
static fencepost_grant *grant;
static fencepost_lock *lock;
static int replies, ends;

/* In a callback, calls that do not wait work, and calls that wait return an error. */
static void ask_all(void) {
    fencepost_attempt *attempt = NULL;
    fencepost_grant *other = NULL;

    fencepost_grant_is_valid(grant);
    fencepost_grant_is_lost(grant);
    CHECK_RESULT(fencepost_acquire(client, "c-tests/never", LONG, &other), FENCEPOST_RESULT_WOULD_BLOCK);
    CHECK_RESULT(fencepost_close(client), FENCEPOST_RESULT_WOULD_BLOCK);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    fencepost_attempt_free(attempt);
}

static void on_reply(redisAsyncContext *context, void *reply, void *data) {
    (void)context, (void)data;
    if (reply == NULL)
        return;
    __atomic_add_fetch(&replies, 1, __ATOMIC_SEQ_CST);
    ask_all();
}

static void on_end(const redisAsyncContext *context, int status) {
    (void)context, (void)status;
    __atomic_add_fetch(&ends, 1, __ATOMIC_SEQ_CST);
    ask_all();
}

/* Connects in a loop, and then detaches the context from the loop. */
static redisAsyncContext *open_one(const char *address) {
    struct loop loop;

    if (!loop_connect(&loop, address))
        return NULL;
    loop_detach(&loop);
    loop.context->onDisconnect = on_end;
    return loop.context;
}

static void callbacks_run_without_the_lock(void) {
    const char *address_ = NULL, *proxy = proxy_open("redis-1", &address_);
    redisAsyncContext *commands, *subscriptions;
    const char *name = new_name("given");

    NEED(proxy != NULL);
    commands = open_one(address_);
    subscriptions = open_one(address_);
    NEED(commands != NULL && subscriptions != NULL);
    replies = ends = 0;
    CHECK_RESULT(fencepost_redis_attach(commands, subscriptions, &client), FENCEPOST_OK);
    lock = lock_with(client, new_name("given"), NULL);
    grant = hold(client, name);
    NEED(grant != NULL);
    redisAsyncCommand(commands, on_reply, NULL, "PING");
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_OK);
    EVENTUALLY(__atomic_load_n(&replies, __ATOMIC_SEQ_CST) == 1);
    /* Both connections of the client end. The background thread or this thread detects it. */
    control("ok", "proxy-cut %s", proxy);
    EVENTUALLY(fencepost_grant_is_lost(grant) || __atomic_load_n(&ends, __ATOMIC_SEQ_CST) == 2);
    EVENTUALLY(__atomic_load_n(&ends, __ATOMIC_SEQ_CST) == 2);
    CHECK_FAULT(fencepost_close(client), FENCEPOST_RESULT_CLEANUP_INCOMPLETE, "1 lock");
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    fencepost_client_free(client);
    control("ok", "proxy-close %s", proxy);
}

/* A context belongs to one client: in a loop or not, for commands or for subscriptions. */
static void context_has_one_client(void) {
    struct loop one, two;
    fencepost_client *first = NULL, *second = NULL;
    int driven;

    for (driven = 0; driven < 2; driven++) {
        NEED(loop_connect(&one, address(REDIS)) && loop_connect(&two, address(REDIS)));
        if (driven == 0) {
            loop_detach(&one);
            loop_detach(&two);
        }
        CHECK_RESULT(fencepost_redis_attach(one.context, NULL, &first), FENCEPOST_OK);
        CHECK_FAULT(fencepost_redis_attach(one.context, NULL, &second), FENCEPOST_RESULT_BAD_ARGUMENT, "already");
        CHECK_FAULT(
            fencepost_redis_attach(two.context, one.context, &second), FENCEPOST_RESULT_BAD_ARGUMENT, "already");
        /* The refused attaches have left nothing, and do not affect the first client. */
        CHECK_RESULT(fencepost_redis_attach(two.context, NULL, &second), FENCEPOST_OK);
        close_client(second);
        close_client(first);
        CHECK_RESULT(fencepost_redis_attach(one.context, two.context, &first), FENCEPOST_OK);
        close_client(first);
        redisAsyncFree(one.context);
        redisAsyncFree(two.context);
    }
}

/* Results may be any bytes here, too. */
static void claims_in_a_loop(void) {
    struct loop commands, subscriptions, *loops[2] = {&commands, &subscriptions};
    uint8_t all[256];
    fencepost_client *looped = NULL, *other = client_of(url(REDIS, ""));
    fencepost_idempotency *payments, *again = scope_with(other, NULL);
    const char *key = new_name("given");
    fencepost_attempt *attempt = NULL;
    fencepost_grant *claim = NULL;
    fencepost_result result;
    size_t i;

    for (i = 0; i < sizeof all; i++)
        all[i] = (uint8_t)i;
    NEED(loop_connect(&commands, address(REDIS)) && loop_connect(&subscriptions, address(REDIS)));
    CHECK_RESULT(fencepost_redis_attach(commands.context, subscriptions.context, &looped), FENCEPOST_OK);
    payments = scope_with(looped, NULL);
    CHECK_RESULT(fencepost_claim(payments, key, PRINT, 0, &claim), FENCEPOST_RESULT_WOULD_BLOCK);
    CHECK_RESULT(fencepost_look(payments, key, NULL), FENCEPOST_RESULT_WOULD_BLOCK);
    claim = claim_of(again, key);
    CHECK_RESULT(fencepost_claim_start(payments, key, PRINT, LONG, &attempt), FENCEPOST_OK);
    CHECK_RESULT(fencepost_complete(claim, all, sizeof all), FENCEPOST_OK);
    fencepost_grant_free(claim);
    while ((result = fencepost_attempt_finish(attempt, &claim)) == FENCEPOST_RESULT_PENDING) {
        int timeout = fencepost_client_timeout(looped);

        loop_turn(loops, 2, fencepost_client_fd(looped), timeout < 0 ? 1000 : timeout);
        fencepost_client_process(looped);
    }
    CHECK_RESULT(result, FENCEPOST_REPLAYED);
    has_result(claim, all, sizeof all);
    fencepost_grant_free(claim);
    fencepost_attempt_free(attempt);
    fencepost_idempotency_free(payments);
    fencepost_idempotency_free(again);
    close_client(looped);
    loop_turn(loops, 2, -1, 100);
    redisAsyncFree(commands.context);
    redisAsyncFree(subscriptions.context);
    close_client(other);
}

/* Waits for a lock that another client holds, with a new client on these connections. */
static void time_out(struct loop *commands, struct loop *subscriptions, const char *name) {
    fencepost_client *waiting = NULL;
    fencepost_grant *none = NULL;

    CHECK_RESULT(fencepost_redis_attach(commands->context, subscriptions->context, &waiting), FENCEPOST_OK);
    CHECK_RESULT(fencepost_acquire(waiting, name, BRIEF, &none), FENCEPOST_RESULT_TIMEOUT);
    close_client(waiting);
}

static fencepost_grant *released;

static void *release_soon(void *argument) {
    (void)argument;
    poll(NULL, 0, 1000);
    CHECK_RESULT(fencepost_release(released), FENCEPOST_OK);
    return NULL;
}

/* Without the message of the release, a waiter with these options would get the lock late. */
#define PATIENT FENCEPOST_OPTIONS(.poll = 15000)
#define MESSAGE_WITHIN 5000

/* A client on these connections gets the lock by the message of its release. */
static void gets_message(struct loop *commands, struct loop *subscriptions, fencepost_client *other, const char *name) {
    fencepost_client *waiting = NULL;
    fencepost_grant *own = NULL;
    int64_t start = millis();
    pthread_t thread;

    CHECK_RESULT(fencepost_redis_attach(commands->context, subscriptions->context, &waiting), FENCEPOST_OK);
    released = hold(other, name);
    NEED(released != NULL);
    NEED(pthread_create(&thread, NULL, release_soon, NULL) == 0);
    CHECK_RESULT(fencepost_acquire_with(waiting, name, PATIENT, LONG, &own), FENCEPOST_OK);
    CHECK(millis() - start < MESSAGE_WITHIN);
    pthread_join(thread, NULL);
    fencepost_grant_free(released);
    let_go(own);
    close_client(waiting);
}

static bool connect_detached(struct loop *loop, const char *address) {
    if (!loop_connect(loop, address))
        return false;
    loop_detach(loop);
    return true;
}

/* A new client for each acquire, on the same connections. The reply to the last unsubscription of one client arrives
 * while the next client already waits for the same lock. */
static void next_client_on_the_same_contexts(void) {
    struct relay *relay = relay_open("127.0.0.1", address(REDIS));
    fencepost_client *other = client_of(url(REDIS, ""));
    const char *name = new_name("given");
    struct loop commands, subscriptions;
    fencepost_grant *held = hold(other, name);
    int round;

    relay_delay(relay, 400);
    /* In the second round, the first contexts were freed before such a reply arrived. */
    for (round = 0; round < 2; round++) {
        NEED(connect_detached(&commands, address(REDIS)) && connect_detached(&subscriptions, relay_address(relay)));
        time_out(&commands, &subscriptions, name);
        time_out(&commands, &subscriptions, name);
        if (round == 1) {
            let_go(held);
            relay_delay(relay, 200);
            gets_message(&commands, &subscriptions, other, name);
        }
        redisAsyncFree(commands.context);
        redisAsyncFree(subscriptions.context);
    }
    close_client(other);
    relay_close(relay);
}

/* Runs the program's loop and a client in it until an attempt ends. */
static fencepost_result
run_attempt(struct loop **loops, fencepost_client *looped, fencepost_attempt *attempt, fencepost_grant **own) {
    fencepost_result result;

    while ((result = fencepost_attempt_finish(attempt, own)) == FENCEPOST_RESULT_PENDING) {
        int timeout = fencepost_client_timeout(looped);

        loop_turn(loops, 2, fencepost_client_fd(looped), timeout < 0 || timeout > 100 ? 100 : timeout);
        fencepost_client_process(looped);
    }
    return result;
}

/* The same in the program's loop. */
static void next_client_in_a_loop(void) {
    struct relay *relay = relay_open("127.0.0.1", address(REDIS));
    struct loop commands, subscriptions, *loops[2] = {&commands, &subscriptions};
    fencepost_client *other = client_of(url(REDIS, ""));
    const char *name = new_name("given");
    fencepost_client *looped = NULL;
    fencepost_attempt *attempt = NULL;
    fencepost_grant *own = NULL;
    pthread_t thread;
    int64_t start = 0;
    int job;

    released = hold(other, name);
    NEED(released != NULL);
    relay_delay(relay, 400);
    NEED(loop_connect(&commands, address(REDIS)) && loop_connect(&subscriptions, relay_address(relay)));
    for (job = 0; job < 2; job++) {
        fencepost_lock *wanted;

        CHECK_RESULT(fencepost_redis_attach(commands.context, subscriptions.context, &looped), FENCEPOST_OK);
        wanted = lock_with(looped, name, PATIENT);
        start = millis();
        if (job == 1)
            NEED(pthread_create(&thread, NULL, release_soon, NULL) == 0);
        CHECK_RESULT(fencepost_lock_acquire_start(wanted, job == 1 ? LONG : BRIEF, &attempt), FENCEPOST_OK);
        CHECK_RESULT(run_attempt(loops, looped, attempt, &own), job == 1 ? FENCEPOST_OK : FENCEPOST_RESULT_TIMEOUT);
        fencepost_attempt_free(attempt);
        fencepost_lock_free(wanted);
        if (job < 1)
            close_client(looped);
    }
    CHECK(millis() - start < MESSAGE_WITHIN);
    pthread_join(thread, NULL);
    fencepost_grant_free(released);
    fencepost_grant_free(own);
    fencepost_client_free(looped);
    redisAsyncFree(commands.context);
    redisAsyncFree(subscriptions.context);
    close_client(other);
    relay_close(relay);
}

#if HIREDIS_MAJOR >= 1
static void on_hello(redisAsyncContext *context, void *reply, void *data) {
    (void)context, (void)reply;
    *(bool *)data = true;
}

/* Over RESP3, messages are pushes. hiredis 0.14 does not know them. */
static void messages_over_resp3(void) {
    struct loop commands, subscriptions, *loops[1] = {&subscriptions};
    fencepost_client *other = client_of(url(REDIS, ""));
    bool greeted = false;
    int turns, round;

    NEED(connect_detached(&commands, address(REDIS)) && loop_connect(&subscriptions, address(REDIS)));
    redisAsyncCommand(subscriptions.context, on_hello, &greeted, "HELLO 3");
    for (turns = 0; turns < 1000 && !greeted; turns++)
        loop_turn(loops, 1, -1, 10);
    NEED(greeted);
    loop_detach(&subscriptions);
    for (round = 0; round < 2; round++)
        gets_message(&commands, &subscriptions, other, new_name("given"));
    redisAsyncFree(commands.context);
    redisAsyncFree(subscriptions.context);
    close_client(other);
}
#endif

int main(void) {
    if (address(REDIS) != NULL) {
        TEST(callbacks_run_without_the_lock);
        TEST(context_has_one_client);
        TEST(claims_in_a_loop);
        TEST(next_client_on_the_same_contexts);
        TEST(next_client_in_a_loop);
#if HIREDIS_MAJOR >= 1
        TEST(messages_over_resp3);
#endif
    }
    return check_close();
}
