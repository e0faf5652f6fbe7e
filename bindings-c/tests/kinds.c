/* Kinds of locks, and their options. */
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "support.h"

#define READER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER)
#define WRITER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_WRITER)
#define KAZOO_READER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER, .layout = "kazoo")
#define KAZOO_WRITER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_WRITER, .layout = "kazoo")

static fencepost_result taken(fencepost_client *client, const char *name, const fencepost_options *options) {
    fencepost_grant *grant = NULL;
    fencepost_result result = fencepost_try_acquire_with(client, name, options, &grant);

    fencepost_grant_free(grant);
    return result;
}

/* Without options, or with empty options, the lock is a mutex. */
static void no_options(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("plain-options");
    fencepost_options empty = {0};
    fencepost_grant *grant = hold_with(client, name, NULL);

    CHECK_RESULT(taken(client, name, NULL), FENCEPOST_RESULT_NOT_AVAILABLE);
    empty.size = sizeof empty;
    CHECK_RESULT(taken(client, name, &empty), FENCEPOST_RESULT_NOT_AVAILABLE);
    let_go(grant);
    grant = hold_with(client, name, FENCEPOST_OPTIONS(.max_hold = 100));
    CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_MAX_HOLD);
    fencepost_grant_free(grant);
    close_client(client);
}

static void read_and_write(fencepost_client *client, const fencepost_options *reader, const fencepost_options *writer) {
    const char *name = new_name("read-write");
    fencepost_grant *one = hold_with(client, name, reader), *two = hold_with(client, name, reader), *alone;

    CHECK_RESULT(taken(client, name, writer), FENCEPOST_RESULT_NOT_AVAILABLE);
    let_go(one);
    CHECK_RESULT(taken(client, name, writer), FENCEPOST_RESULT_NOT_AVAILABLE);
    let_go(two);
    alone = hold_with(client, name, writer);
    CHECK(fencepost_grant_fence(alone) > 0);
    CHECK_RESULT(taken(client, name, reader), FENCEPOST_RESULT_NOT_AVAILABLE);
    CHECK_RESULT(taken(client, name, writer), FENCEPOST_RESULT_NOT_AVAILABLE);
    let_go(alone);
    let_go(hold_with(client, name, reader));
}

static void readers_and_writers(enum family family) {
    fencepost_client *client = client_of(url(family, ""));

    read_and_write(client, READER, WRITER);
    read_and_write(client, KAZOO_READER, KAZOO_WRITER);
    close_client(client);
}

static void permits(fencepost_client *client, const char *layout) {
    const fencepost_options *options =
        FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = 2, .layout = layout);
    const char *name = new_name("semaphore");
    fencepost_grant *one = hold_with(client, name, options), *two = hold_with(client, name, options), *none = NULL;

    CHECK_RESULT(taken(client, name, options), FENCEPOST_RESULT_NOT_AVAILABLE);
    CHECK_RESULT(fencepost_acquire_with(client, name, options, BRIEF, &none), FENCEPOST_RESULT_TIMEOUT);
    let_go(one);
    one = hold_with(client, name, options);
    CHECK(fencepost_grant_is_valid(one) && fencepost_grant_is_valid(two));
    let_go(two);
    let_go(one);
}

static void semaphores(enum family family) {
    fencepost_client *client = client_of(url(family, ""));

    permits(client, NULL);
    permits(client, "kazoo");
    close_client(client);
}

static void all_or_none(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *const names[] = {new_name("stock"), new_name("till"), new_name("door")};
    const fencepost_options *all =
        FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .names = names, .name_count = 3);
    fencepost_grant *one = hold(other, names[1]), *many, *none = NULL;

    CHECK_RESULT(taken(mine, NULL, all), FENCEPOST_RESULT_NOT_AVAILABLE);
    CHECK_RESULT(fencepost_acquire_with(mine, NULL, all, BRIEF, &none), FENCEPOST_RESULT_TIMEOUT);
    let_go(hold(other, names[0]));
    let_go(one);
    many = hold_with(mine, NULL, all);
    CHECK(fencepost_grant_is_valid(many) && fencepost_grant_fence(many) > 0);
    CHECK_RESULT(taken(other, names[0], NULL), FENCEPOST_RESULT_NOT_AVAILABLE);
    CHECK_RESULT(taken(other, names[1], NULL), FENCEPOST_RESULT_NOT_AVAILABLE);
    CHECK_RESULT(taken(other, names[2], NULL), FENCEPOST_RESULT_NOT_AVAILABLE);
    let_go(many);
    let_go(hold(other, names[2]));
    let_go(
        hold_with(other, NULL, FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .names = names, .name_count = 1)));
    close_client(mine);
    close_client(other);
}

static void election(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const fencepost_options *options = FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_ELECTION, .identifier = "host-7");
    const char *name = new_name("election");
    fencepost_grant *term = hold_with(mine, name, options), *next;
    uint64_t first = fencepost_grant_fence(term);

    CHECK_RESULT(taken(other, name, options), FENCEPOST_RESULT_NOT_AVAILABLE);
    let_go(term);
    next = hold_with(other, name, options);
    CHECK(fencepost_grant_fence(next) > first);
    let_go(next);
    close_client(mine);
    close_client(other);
}

static void layouts(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("layouts");

    let_go(hold_with(client, name, FENCEPOST_OPTIONS(.layout = "curator")));
    let_go(hold_with(client, name, FENCEPOST_OPTIONS(.layout = "kazoo", .identifier = "")));
    let_go(hold_with(client, name, FENCEPOST_OPTIONS(.layout = "plain", .identifier = "a till")));
    let_go(hold_with(client, name, FENCEPOST_OPTIONS(.layout = "plain", .node_prefix = "till-", .revocable = true)));
    close_client(client);
}

/* A waiter in an event loop. */
static void step_by_step(enum family family) {
    fencepost_client *client = client_of(url(family, "")), *other = client_of(url(family, ""));
    fencepost_grant *alone, *grant = NULL;
    const char *name = new_name("stepwise");
    fencepost_attempt *attempt = NULL;
    fencepost_lock *lock = NULL;
    struct pollfd news = {fencepost_client_fd(client), POLLIN, 0};
    int64_t end = millis() + LONG;
    fencepost_result result;

    alone = hold_with(other, name, WRITER);
    CHECK_RESULT(fencepost_lock_open(client, name, READER, &lock), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, FENCEPOST_FOREVER, &attempt), FENCEPOST_OK);
    while (fencepost_attempt_ahead(attempt) != 1 && millis() < end) {
        poll(&news, 1, fencepost_client_timeout(client));
        CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
    }
    CHECK_RESULT(fencepost_attempt_finish(attempt, &grant), FENCEPOST_RESULT_PENDING);
    CHECK_RESULT(fencepost_release_start(alone), FENCEPOST_OK);
    while ((result = fencepost_attempt_finish(attempt, &grant)) == FENCEPOST_RESULT_PENDING && millis() < end) {
        poll(&news, 1, fencepost_client_timeout(client));
        CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
    }
    CHECK_RESULT(result, FENCEPOST_OK);
    CHECK(!fencepost_grant_revoke_requested(grant));
    CHECK(fencepost_grant_mixed_layouts(grant) == NULL);
    fencepost_grant_free(alone);
    fencepost_grant_free(grant);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    close_client(client);
    close_client(other);
}

/* ---- bad input ---- */

static void wrong_options(enum family family) {
    char long_identifier[1026];
    fencepost_client *client = client_of(url(family, ""));
    static const char *const no_names[] = {"a", NULL}, *const twice[] = {"a", "b", "a"}, *const wrong[] = {"a//b"};
    static const uint8_t bytes[sizeof(fencepost_options) + 8] = {0};
    static const size_t reserved[] = {
        offsetof(fencepost_options, reserved_kind), offsetof(fencepost_options, reserved_switches),
        offsetof(fencepost_options, reserved_end), offsetof(fencepost_options, reserved_end) + 6};
    uint8_t newer[sizeof bytes];
    fencepost_options options = {0};
    fencepost_lock *lock = NULL;
    const struct {
        const fencepost_options *options;
        int expected;
        const char *words;
    } rows[] = {
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE), FENCEPOST_RESULT_INVALID_OPTION, "permits"},
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = -1), FENCEPOST_RESULT_INVALID_OPTION, "-1"},
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = INT64_MAX), FENCEPOST_RESULT_INVALID_OPTION,
         "4294967295"},
        {FENCEPOST_OPTIONS(.permits = 3), FENCEPOST_RESULT_UNKNOWN_OPTION, "permits"},
        {FENCEPOST_OPTIONS(.layout = "Curator"), FENCEPOST_RESULT_INVALID_OPTION, "\"kazoo\""},
        {FENCEPOST_OPTIONS(.layout = ""), FENCEPOST_RESULT_INVALID_OPTION, "layout"},
        {FENCEPOST_OPTIONS(.layout = "\xff"), FENCEPOST_RESULT_BAD_ARGUMENT, "UTF-8"},
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER, .layout = "plain"), FENCEPOST_RESULT_INVALID_OPTION, "plain"},
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_WRITER, .layout = "plain"), FENCEPOST_RESULT_INVALID_OPTION, "plain"},
        {FENCEPOST_OPTIONS(.node_prefix = "x-"), FENCEPOST_RESULT_INVALID_OPTION, "node_prefix"},
        {FENCEPOST_OPTIONS(.layout = "plain", .node_prefix = "a/b"), FENCEPOST_RESULT_INVALID_OPTION, "a/b"},
        {FENCEPOST_OPTIONS(.identifier = long_identifier), FENCEPOST_RESULT_INVALID_OPTION, "1024"},
        {FENCEPOST_OPTIONS(.unfair = true, .ttl = 1000), FENCEPOST_RESULT_UNKNOWN_OPTION, "ttl"},
        {FENCEPOST_OPTIONS(.unfair = true, .without_renewal = true), FENCEPOST_RESULT_UNKNOWN_OPTION, "renew"},
        {FENCEPOST_OPTIONS(.max_hold = -1), FENCEPOST_RESULT_NOT_POSITIVE, "max_hold"},
        {FENCEPOST_OPTIONS(.max_hold = INT64_MAX), FENCEPOST_RESULT_TOO_LONG, "max_hold"},
        {FENCEPOST_OPTIONS(.kind = (fencepost_kind)77), FENCEPOST_RESULT_BAD_ARGUMENT, "77"},
        {FENCEPOST_OPTIONS(.kind = (fencepost_kind)-1), FENCEPOST_RESULT_BAD_ARGUMENT, "kind"},
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .name_count = 2), FENCEPOST_RESULT_NULL_POINTER, ""},
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .names = no_names, .name_count = 2),
         FENCEPOST_RESULT_NULL_POINTER, ""},
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .names = no_names, .name_count = 1000),
         FENCEPOST_RESULT_INVALID_OPTION, "1000"},
        {FENCEPOST_OPTIONS(.names = twice, .name_count = 2), FENCEPOST_RESULT_UNKNOWN_OPTION, "names"},
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .names = twice, .name_count = 2),
         FENCEPOST_RESULT_UNKNOWN_OPTION, "name"},
        {&options, FENCEPOST_RESULT_BAD_ARGUMENT, "size"},
    };
    size_t i;

    memset(long_identifier, 'x', sizeof long_identifier - 1);
    long_identifier[sizeof long_identifier - 1] = '\0';
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t before = millis();
        if (!CHECK_FAULT(fencepost_lock_open(client, "x", rows[i].options, &lock), rows[i].expected, rows[i].words))
            printf("    row %zu\n", i);
        CHECK(millis() - before < LONG);
    }
    CHECK_RESULT(fencepost_lock_open(client, NULL, READER, &lock), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_FAULT(
        fencepost_lock_open(client, NULL, FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK), &lock),
        FENCEPOST_RESULT_INVALID_OPTION, "names");
    CHECK_FAULT(
        fencepost_lock_open(
            client, NULL, FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .names = twice, .name_count = 3), &lock),
        FENCEPOST_RESULT_INVALID_OPTION, "twice");
    CHECK_FAULT(
        fencepost_lock_open(
            client, NULL, FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .names = wrong, .name_count = 1), &lock),
        FENCEPOST_RESULT_INVALID_NAME, "slash");
    CHECK_RESULT(fencepost_lock_open(client, "", READER, &lock), FENCEPOST_RESULT_EMPTY_NAME);
    CHECK_RESULT(fencepost_lock_open(client, "x", READER, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_lock_open(NULL, "x", READER, &lock), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(taken(client, NULL, READER), FENCEPOST_RESULT_NULL_POINTER);
    CHECK(lock == NULL);
    /* Options of a program with a later header: members that are zero do no harm. */
    options.size = sizeof newer;
    memcpy(newer, bytes, sizeof newer);
    memcpy(newer, &options, sizeof options);
    CHECK_RESULT(taken(client, "x", (const fencepost_options *)(const void *)newer), FENCEPOST_OK);
    newer[sizeof newer - 1] = 1;
    CHECK_FAULT(
        fencepost_lock_open(client, "x", (const fencepost_options *)(const void *)newer, &lock),
        FENCEPOST_RESULT_UNKNOWN_OPTION, "newer");
    /* A later option in the place of a member that is reserved now. */
    options.size = sizeof options;
    CHECK_RESULT(taken(client, "x", &options), FENCEPOST_OK);
    for (i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        fencepost_options later = options;

        ((uint8_t *)&later)[reserved[i]] = 1;
        CHECK_FAULT(fencepost_lock_open(client, "x", &later, &lock), FENCEPOST_RESULT_UNKNOWN_OPTION, "newer");
    }
    close_client(client);
}

static void redis_has_no_such_thing(void) {
    static const char *const names[] = {"a", "b"};
    fencepost_client *client = client_of(url(REDIS, ""));
    const struct {
        const fencepost_options *options;
        const char *words;
    } rows[] = {
        {READER, "ZooKeeper"},
        {WRITER, "ZooKeeper"},
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_ELECTION), "ZooKeeper"},
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = 3), "semaphore"},
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .names = names, .name_count = 2), "multi_lock"},
        {FENCEPOST_OPTIONS(.permits = 1), "permits"},
        {FENCEPOST_OPTIONS(.layout = "curator"), "layout"},
        {FENCEPOST_OPTIONS(.node_prefix = "x"), "node_prefix"},
        {FENCEPOST_OPTIONS(.identifier = "x"), "identifier"},
        {FENCEPOST_OPTIONS(.revocable = true), "revocable"},
    };
    fencepost_grant *grant = NULL;
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_FAULT(
            fencepost_acquire_with(client, "x", rows[i].options, LONG, &grant), FENCEPOST_RESULT_UNKNOWN_OPTION,
            rows[i].words);
    CHECK(grant == NULL);
    grant = hold_with(client, new_name("ttl"), FENCEPOST_OPTIONS(.ttl = 1000, .without_renewal = true));
    CHECK(fencepost_grant_remaining(grant) <= 1000);
    CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_LEASE_ENDED);
    CHECK(!fencepost_grant_revoke_requested(grant) && fencepost_grant_mixed_layouts(grant) == NULL);
    fencepost_grant_free(grant);
    close_client(client);
}

int main(void) {
    int family;

    for (family = 0; family < FAMILIES; family++) {
        if (address((enum family)family) == NULL)
            continue;
#define ON(name) TEST_ON(name, (enum family)family, label((enum family)family))
        ON(no_options);
        if (family == REDIS)
            continue;
        ON(readers_and_writers);
        ON(semaphores);
        ON(all_or_none);
        ON(election);
        ON(layouts);
        ON(step_by_step);
        ON(wrong_options);
    }
    if (address(REDIS) != NULL)
        TEST(redis_has_no_such_thing);
    return check_close();
}
