/* Owners: the holder of a lock acquires it again without a request, on every kind of server. */
#include <poll.h>

#include "support.h"

#define OWNER "request-17"
#define OWNED FENCEPOST_OPTIONS(.owner = OWNER)
#define READER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER, .owner = OWNER)
#define WRITER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_WRITER, .owner = OWNER)
#define STRANGE_READER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER)
#define STRANGE_WRITER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_WRITER)

/* Returns the result of a try. Releases the grant, if any. */
static fencepost_result tried(fencepost_client *client, const char *name, const fencepost_options *options) {
    fencepost_grant *grant = NULL;
    fencepost_result result = fencepost_try_acquire_with(client, name, options, &grant);

    if (result == FENCEPOST_OK)
        let_go(grant);
    return result;
}

static void holds_more_than_once(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("again");
    fencepost_lock *lock = lock_with(mine, name, OWNED), *strange = lock_with(other, name, OWNED);
    fencepost_grant *grants[4], *next = NULL;
    fencepost_attempt *attempt, *waiting;
    uint64_t fence;
    int i;

    /* With any lock object, and with every function that acquires. */
    grants[0] = hold_with(mine, name, OWNED);
    CHECK_RESULT(fencepost_lock_try_acquire(lock, &grants[1]), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire(lock, 1, &grants[2]), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, FENCEPOST_FOREVER, &attempt), FENCEPOST_OK);
    CHECK_RESULT(fencepost_attempt_cancel(attempt), FENCEPOST_RESULT_NOT_WAITING);
    CHECK_RESULT(fencepost_attempt_finish(attempt, &grants[3]), FENCEPOST_OK);
    fencepost_attempt_free(attempt);
    /* An attempt that the program does not finish is not a hold. */
    CHECK_RESULT(fencepost_lock_acquire_start(lock, FENCEPOST_FOREVER, &attempt), FENCEPOST_OK);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    fence = fencepost_grant_fence(grants[0]);
    for (i = 0; i < 4; i++) {
        CHECK(fencepost_grant_fence(grants[i]) == fence && fencepost_grant_is_valid(grants[i]));
        CHECK(fencepost_grant_remaining(grants[i]) > 0);
    }
    CHECK_RESULT(fencepost_lock_acquire_start(strange, LONG, &waiting), FENCEPOST_OK);
    for (i = 0; i < 3; i++) {
        CHECK_RESULT(fencepost_release(grants[i]), FENCEPOST_OK);
        CHECK(!fencepost_grant_is_valid(grants[i]) && fencepost_grant_remaining(grants[i]) == 0);
        CHECK_RESULT(fencepost_release(grants[i]), FENCEPOST_RESULT_NOT_HELD);
        CHECK_RESULT(fencepost_extend(grants[i]), FENCEPOST_RESULT_NOT_HELD);
        CHECK_RESULT(fencepost_grant_wait_lost(grants[i], 1), FENCEPOST_RESULT_NOT_HELD);
        if (i != 1)
            fencepost_grant_free(grants[i]);
        CHECK_RESULT(tried(other, name, NULL), FENCEPOST_RESULT_NOT_AVAILABLE);
        CHECK_RESULT(tried(mine, name, NULL), FENCEPOST_RESULT_NOT_AVAILABLE);
    }
    CHECK_RESULT(fencepost_extend(grants[3]), FENCEPOST_OK);
    CHECK(fencepost_grant_is_valid(grants[3]));
    CHECK_RESULT(fencepost_release_start(grants[3]), FENCEPOST_OK);
    CHECK_RESULT(fencepost_attempt_wait(waiting, &next), FENCEPOST_OK);
    CHECK(fencepost_grant_fence(next) > fence);
    EVENTUALLY(fencepost_release_finish(grants[3]) == FENCEPOST_OK);
    CHECK_RESULT(fencepost_release(grants[3]), FENCEPOST_RESULT_NOT_HELD);
    fencepost_grant_free(grants[3]);
    fencepost_grant_free(grants[1]);
    fencepost_attempt_free(waiting);
    let_go(next);
    fencepost_lock_free(strange);
    close_client(mine);
    close_client(other);
}

static void owners_are_told_apart(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("apart");
    fencepost_grant *grant = hold_with(mine, name, OWNED), *beside;

    CHECK_RESULT(tried(mine, name, FENCEPOST_OPTIONS(.owner = "request-18")), FENCEPOST_RESULT_NOT_AVAILABLE);
    CHECK_RESULT(tried(mine, name, NULL), FENCEPOST_RESULT_NOT_AVAILABLE);
    CHECK_RESULT(tried(other, name, OWNED), FENCEPOST_RESULT_NOT_AVAILABLE);
    beside = hold_with(mine, new_name("apart"), OWNED);
    CHECK(fencepost_grant_fence(beside) != fencepost_grant_fence(grant));
    let_go(beside);
    /* A free releases only one of the holds. */
    fencepost_grant_free(hold_with(mine, name, OWNED));
    CHECK_RESULT(tried(other, name, NULL), FENCEPOST_RESULT_NOT_AVAILABLE);
    fencepost_grant_free(grant);
    let_go(hold(other, name));
    close_client(mine);
    close_client(other);
}

static void busy(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("busy");
    fencepost_grant *grant = hold(other, name), *none = NULL;
    fencepost_lock *lock = lock_with(mine, name, OWNED);
    fencepost_attempt *attempt, *refused;

    CHECK_RESULT(fencepost_lock_acquire_start(lock, FENCEPOST_FOREVER, &attempt), FENCEPOST_OK);
    CHECK_FAULT(fencepost_lock_acquire(lock, 5, &none), FENCEPOST_RESULT_BUSY, name);
    CHECK_RESULT(fencepost_lock_try_acquire(lock, &none), FENCEPOST_RESULT_BUSY);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, 5, &refused), FENCEPOST_RESULT_BUSY);
    /* A cancelled or refused waiter does not block other waiters. */
    CHECK_RESULT(fencepost_attempt_cancel(attempt), FENCEPOST_OK);
    CHECK_RESULT(fencepost_attempt_wait(attempt, &none), FENCEPOST_RESULT_CANCELLED);
    fencepost_attempt_free(attempt);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, FENCEPOST_FOREVER, &attempt), FENCEPOST_OK);
    fencepost_attempt_free(attempt);
    CHECK_RESULT(fencepost_lock_try_acquire(lock, &none), FENCEPOST_RESULT_NOT_AVAILABLE);
    CHECK_RESULT(fencepost_lock_acquire(lock, BRIEF, &none), FENCEPOST_RESULT_TIMEOUT);
    CHECK_RESULT(fencepost_lock_acquire(lock, 0, &none), FENCEPOST_RESULT_NOT_POSITIVE);
    let_go(grant);
    CHECK_RESULT(fencepost_lock_acquire(lock, LONG, &grant), FENCEPOST_OK);
    /* The client also refuses invalid timeouts of a holder. */
    CHECK_RESULT(fencepost_lock_acquire(lock, 0, &none), FENCEPOST_RESULT_NOT_POSITIVE);
    CHECK_RESULT(fencepost_lock_acquire(lock, -7, &none), FENCEPOST_RESULT_NOT_POSITIVE);
    CHECK_RESULT(fencepost_lock_acquire(lock, INT64_MAX - 1, &none), FENCEPOST_RESULT_TOO_LONG);
    CHECK_RESULT(tried(mine, name, OWNED), FENCEPOST_OK);
    let_go(grant);
    fencepost_lock_free(lock);
    close_client(mine);
    close_client(other);
}

static void acquires_anew_while_the_last_release_is_on_its_way(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("anew");
    fencepost_grant *one = hold_with(client, name, OWNED), *other = hold_with(client, name, OWNED), *next;

    CHECK_RESULT(fencepost_release_start(one), FENCEPOST_OK);
    CHECK_RESULT(fencepost_release_finish(one), FENCEPOST_OK);
    CHECK_RESULT(fencepost_release_start(other), FENCEPOST_OK);
    next = hold_with(client, name, OWNED);
    CHECK(fencepost_grant_fence(next) > fencepost_grant_fence(one));
    EVENTUALLY(fencepost_release_finish(other) == FENCEPOST_OK);
    fencepost_grant_free(one);
    fencepost_grant_free(other);
    CHECK(fencepost_grant_is_valid(next));
    let_go(next);
    close_client(client);
}

static void all_holds_are_lost(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("loss");
    fencepost_grant *grants[3], *gone, *next;
    uint64_t fence;
    int i;

    /* The settings of the first acquire apply. */
    grants[0] = hold_with(client, name, FENCEPOST_OPTIONS(.owner = OWNER, .max_hold = 300));
    gone = hold_with(client, name, OWNED);
    grants[1] = hold_with(client, name, FENCEPOST_OPTIONS(.owner = OWNER, .max_hold = 60000));
    grants[2] = hold_with(client, name, OWNED);
    fence = fencepost_grant_fence(gone);
    CHECK_RESULT(fencepost_release(gone), FENCEPOST_OK);
    for (i = 0; i < 3; i++)
        CHECK_RESULT(fencepost_grant_wait_lost(grants[i], LONG), FENCEPOST_RESULT_MAX_HOLD);
    CHECK(!fencepost_grant_is_lost(gone));
    CHECK_RESULT(fencepost_release(gone), FENCEPOST_RESULT_NOT_HELD);
    for (i = 0; i < 3; i++) {
        CHECK(!fencepost_grant_is_valid(grants[i]));
        CHECK_RESULT(fencepost_release(grants[i]), FENCEPOST_RESULT_MAX_HOLD);
        fencepost_grant_free(grants[i]);
    }
    fencepost_grant_free(gone);
    next = hold_with(client, name, OWNED);
    CHECK(fencepost_grant_fence(next) > fence);
    let_go(next);
    close_client(client);
}

/* In an event loop, the client checks the time only in calls: an owner gets no hold of a grant that has ended. */
static void a_loss_that_nobody_has_seen(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("unseen");
    fencepost_lock *lock = lock_with(client, name, FENCEPOST_OPTIONS(.owner = OWNER, .max_hold = 150));
    struct pollfd source = {fencepost_client_fd(client), POLLIN, 0};
    fencepost_grant *grants[2] = {NULL, NULL}, *further = NULL;
    fencepost_attempt *attempt;
    int i;

    for (i = 0; i < 2; i++) {
        int64_t end = millis() + LONG;

        CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
        while (fencepost_attempt_finish(attempt, &grants[i]) == FENCEPOST_RESULT_PENDING && millis() < end) {
            poll(&source, 1, fencepost_client_timeout(client));
            fencepost_client_process(client);
        }
        fencepost_attempt_free(attempt);
        NEED(grants[i] != NULL);
        CHECK(fencepost_grant_is_valid(grants[i]));
        if (i > 0)
            break;
        /* A further hold needs no turn of the loop. */
        CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
        CHECK_RESULT(fencepost_attempt_finish(attempt, &further), FENCEPOST_OK);
        fencepost_attempt_free(attempt);
        poll(NULL, 0, 200);
    }
    CHECK(fencepost_grant_fence(grants[1]) > fencepost_grant_fence(grants[0]));
    CHECK_RESULT(fencepost_grant_loss(grants[0]), FENCEPOST_RESULT_MAX_HOLD);
    CHECK_RESULT(fencepost_grant_loss(further), FENCEPOST_RESULT_MAX_HOLD);
    fencepost_grant_free(further);
    fencepost_grant_free(grants[0]);
    fencepost_grant_free(grants[1]);
    fencepost_lock_free(lock);
    close_client(client);
}

static void closing(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("closing"), *taken = new_name("closing");
    fencepost_grant *grants[3], *foreign = hold(other, taken), *none;
    fencepost_lock *lock = lock_with(mine, taken, OWNED);
    fencepost_attempt *attempt;
    int i;

    for (i = 0; i < 3; i++)
        grants[i] = hold_with(mine, name, OWNED);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    CHECK_RESULT(fencepost_close(mine), FENCEPOST_OK);
    CHECK_RESULT(fencepost_attempt_finish(attempt, &none), FENCEPOST_RESULT_CLIENT_CLOSED);
    CHECK_RESULT(fencepost_lock_try_acquire(lock, &none), FENCEPOST_RESULT_CLIENT_CLOSED);
    for (i = 0; i < 3; i++) {
        CHECK(!fencepost_grant_is_valid(grants[i]));
        CHECK_RESULT(fencepost_release(grants[i]), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
        fencepost_grant_free(grants[i]);
    }
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    fencepost_client_free(mine);
    let_go(hold(other, name));
    let_go(foreign);
    close_client(other);
}

static void owners_that_make_no_sense(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    static const char *const names[] = {"a", "b"}, *const no_text[] = {"\xff", "request-\xc3", "\xed\xa0\x80"};
    char text[1026];
    fencepost_lock *lock = NULL;
    size_t i;

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK_FAULT(
        fencepost_lock_open(client, "x", FENCEPOST_OPTIONS(.owner = ""), &lock), FENCEPOST_RESULT_INVALID_OPTION,
        "owner");
    CHECK_FAULT(
        fencepost_lock_open(client, "x", FENCEPOST_OPTIONS(.owner = text), &lock), FENCEPOST_RESULT_INVALID_OPTION,
        "1024");
    text[1024] = '\0';
    fencepost_lock_free(lock_with(client, "x", FENCEPOST_OPTIONS(.owner = text)));
    fencepost_lock_free(lock_with(client, "x", FENCEPOST_OPTIONS(.owner = "\xc3\xa9")));
    for (i = 0; i < sizeof no_text / sizeof *no_text; i++) {
        CHECK_FAULT(
            fencepost_lock_open(client, "x", FENCEPOST_OPTIONS(.owner = no_text[i]), &lock),
            FENCEPOST_RESULT_BAD_ARGUMENT, "UTF-8");
    }
    if (family != REDIS) {
        CHECK_FAULT(
            fencepost_lock_open(
                client, "x", FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = 2, .owner = OWNER), &lock),
            FENCEPOST_RESULT_UNKNOWN_OPTION, "owner");
        CHECK_RESULT(
            fencepost_lock_open(client, "x", FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_ELECTION, .owner = OWNER), &lock),
            FENCEPOST_RESULT_UNKNOWN_OPTION);
        CHECK_RESULT(
            fencepost_lock_open(
                client, NULL,
                FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .names = names, .name_count = 2, .owner = OWNER),
                &lock),
            FENCEPOST_RESULT_UNKNOWN_OPTION);
    }
    close_client(client);
}

static void readers_do_not_become_writers(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("upgrade");
    fencepost_grant *one = hold_with(mine, name, READER), *two = hold_with(mine, name, READER), *none = NULL;

    CHECK(fencepost_grant_fence(one) == fencepost_grant_fence(two));
    CHECK_FAULT(fencepost_acquire_with(mine, name, WRITER, 5, &none), FENCEPOST_RESULT_UPGRADE, name);
    CHECK_RESULT(fencepost_try_acquire_with(mine, name, WRITER, &none), FENCEPOST_RESULT_UPGRADE);
    CHECK(fencepost_grant_is_valid(one) && contenders(mine, name, READER) == 1);
    /* The client has sent nothing: no writer blocks other readers. */
    CHECK_RESULT(tried(other, name, STRANGE_READER), FENCEPOST_OK);
    let_go(one);
    CHECK_RESULT(tried(other, name, STRANGE_WRITER), FENCEPOST_RESULT_NOT_AVAILABLE);
    let_go(two);
    let_go(hold_with(mine, name, WRITER));
    close_client(mine);
    close_client(other);
}

static void writers_read(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("writers-read");
    fencepost_grant *one = hold_with(mine, name, WRITER), *two = hold_with(mine, name, WRITER);
    fencepost_grant *reading = hold_with(mine, name, READER);

    CHECK(fencepost_grant_fence(reading) == fencepost_grant_fence(one) && contenders(mine, name, READER) == 1);
    let_go(reading);
    let_go(one);
    CHECK_RESULT(tried(other, name, STRANGE_READER), FENCEPOST_RESULT_NOT_AVAILABLE);
    let_go(two);
    CHECK_RESULT(tried(other, name, STRANGE_READER), FENCEPOST_OK);
    close_client(mine);
    close_client(other);
}

/* A grant or an acquire that was just freed blocks no other acquire, even before the server has replied. */
static void freed_and_acquired_again(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("freed");
    fencepost_lock *lock = lock_with(mine, name, OWNED);
    fencepost_attempt *attempt;
    int i;

    for (i = 0; i < 20; i++) {
        fencepost_grant_free(hold_with(mine, name, OWNED));
        CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
        fencepost_attempt_free(attempt);
    }
    let_go(hold_with(mine, name, OWNED));
    fencepost_lock_free(lock);
    let_go(hold(other, name));
    close_client(mine);
    close_client(other);
}

/* Whether the client sends nothing for a moment. `count` gets the number of bytes that it has sent. */
static bool silence(const char *proxy, char *count, size_t size) {
    snprintf(count, size, "%s", control("total", "proxy-count %s", proxy));
    poll(NULL, 0, 100);
    return strcmp(count, control("total", "proxy-count %s", proxy)) == 0;
}

/* A hundred more holds, without a request to the server. */
static void no_requests(enum family family) {
    const char *at = NULL, *proxy = proxy_open(family == REDIS ? "redis-1" : "zookeeper", &at);
    fencepost_client *client;
    fencepost_grant *first, *grants[100];
    fencepost_lock *lock;
    char before[1024];
    int i;

    NEED(proxy != NULL);
    client =
        client_of(url_of(family == REDIS ? "redis://" : "zk://", at, family == REDIS ? "" : "?session_timeout=30000"));
    lock = lock_with(client, new_name("requests"), OWNED);
    CHECK_RESULT(fencepost_lock_acquire(lock, LONG, &first), FENCEPOST_OK);
    CHECK_RESULT(fencepost_extend(first), FENCEPOST_OK);
    /* The client confirms a ZooKeeper session until the confirmation is proved. Then it sends nothing for 10 s. */
    EVENTUALLY(silence(proxy, before, sizeof before));
    for (i = 0; i < 100; i++)
        CHECK_RESULT(fencepost_lock_try_acquire(lock, &grants[i]), FENCEPOST_OK);
    for (i = 0; i < 100; i++)
        let_go(grants[i]);
    CHECK(strcmp(before, control("total", "proxy-count %s", proxy)) == 0);
    let_go(first);
    CHECK(strcmp(before, control("total", "proxy-count %s", proxy)) != 0);
    fencepost_lock_free(lock);
    close_client(client);
    control("id", "proxy-close %s", proxy);
}

#define ON(test)                                                                                                       \
    do {                                                                                                               \
        enum family f_;                                                                                                \
        for (f_ = MEMORY; f_ < FAMILIES; f_++)                                                                         \
            TEST_ON(test, f_, label(f_));                                                                              \
    } while (0)

int main(void) {
    ON(holds_more_than_once);
    ON(owners_are_told_apart);
    ON(busy);
    ON(freed_and_acquired_again);
    ON(acquires_anew_while_the_last_release_is_on_its_way);
    ON(all_holds_are_lost);
    ON(a_loss_that_nobody_has_seen);
    ON(closing);
    ON(owners_that_make_no_sense);
    TEST_ON(readers_do_not_become_writers, MEMORY, label(MEMORY));
    TEST_ON(readers_do_not_become_writers, ZOOKEEPER, label(ZOOKEEPER));
    TEST_ON(writers_read, MEMORY, label(MEMORY));
    TEST_ON(writers_read, ZOOKEEPER, label(ZOOKEEPER));
    TEST_ON(no_requests, ZOOKEEPER, label(ZOOKEEPER));
    TEST_ON(no_requests, REDIS, label(REDIS));
    return check_close();
}
