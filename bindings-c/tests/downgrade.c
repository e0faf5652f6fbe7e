/* Downgrades of writers to readers. */
#include <poll.h>
#include <pthread.h>

#include "support.h"

#define READER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER)
#define WRITER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_WRITER)
#define OWN_READER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER, .owner = "request-17")
#define OWN_WRITER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_WRITER, .owner = "request-17")

static fencepost_attempt *begin(fencepost_client *client, const char *name, const fencepost_options *options) {
    fencepost_lock *lock = lock_with(client, name, options);
    fencepost_attempt *attempt = NULL;

    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    fencepost_lock_free(lock);
    return attempt;
}

static fencepost_grant *granted(fencepost_attempt *attempt) {
    fencepost_grant *grant = NULL;

    CHECK_RESULT(fencepost_attempt_wait(attempt, &grant), FENCEPOST_OK);
    fencepost_attempt_free(attempt);
    return grant;
}

/* The contenders in the order of their fences: `s` if it shares the lock, `e` if it does not, and a capital if it
 * holds. */
static const char *line(fencepost_client *client, const char *name) {
    static char shown[16];
    fencepost_lock *lock = lock_with(client, name, READER);
    fencepost_contenders *list = NULL;
    size_t i, j, count;

    CHECK_RESULT(fencepost_lock_contenders(lock, &list), FENCEPOST_OK);
    count = fencepost_contenders_count(list);
    memset(shown, 0, sizeof shown);
    for (i = 0; i < count && i + 1 < sizeof shown; i++) {
        const fencepost_contender *one = fencepost_contenders_at(list, i);
        size_t place = 0;
        for (j = 0; j < count; j++)
            place += fencepost_contenders_at(list, j)->fence < one->fence;
        shown[place] = one->shared ? 's' : 'e';
        if (one->holds)
            shown[place] -= 'a' - 'A';
    }
    fencepost_contenders_free(list);
    fencepost_lock_free(lock);
    return shown;
}

static void readers_get_in(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("downgrade");
    fencepost_grant *writer = hold_with(mine, name, WRITER), *one, *two, *next = NULL;
    fencepost_attempt *readers[2], *behind;
    uint64_t fence = fencepost_grant_fence(writer);

    readers[0] = begin(other, name, READER);
    readers[1] = begin(mine, name, READER);
    EVENTUALLY(strcmp(line(mine, name), "Ess") == 0);
    behind = begin(other, name, WRITER);
    EVENTUALLY(strcmp(line(mine, name), "Esse") == 0);
    CHECK_RESULT(fencepost_downgrade(writer), FENCEPOST_OK);
    one = granted(readers[0]);
    two = granted(readers[1]);
    CHECK(fencepost_grant_fence(writer) == fence && fencepost_grant_is_valid(writer));
    /* The reader's node has another number on the server; the grant keeps the writer's fence. */
    CHECK(strlen(line(mine, name)) == 4 && strcspn(line(mine, name), "E") == 4);
    CHECK_RESULT(fencepost_downgrade(writer), FENCEPOST_RESULT_NOT_A_WRITER);
    CHECK_RESULT(fencepost_downgrade(one), FENCEPOST_RESULT_NOT_A_WRITER);
    CHECK_RESULT(fencepost_extend(writer), FENCEPOST_OK);
    let_go(one);
    let_go(two);
    CHECK_RESULT(fencepost_attempt_finish(behind, &next), FENCEPOST_RESULT_PENDING);
    let_go(writer);
    next = granted(behind);
    CHECK(fencepost_grant_fence(next) > fence);
    let_go(next);
    CHECK(strcmp(line(mine, name), "") == 0);
    close_client(mine);
    close_client(other);
}

static void only_writers(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    fencepost_grant *grant = hold(client, new_name("no-writer"));

    CHECK_RESULT(fencepost_downgrade(grant), FENCEPOST_RESULT_NOT_A_WRITER);
    CHECK_RESULT(fencepost_downgrade_finish(grant), FENCEPOST_RESULT_NOT_A_WRITER);
    let_go(grant);
    CHECK_RESULT(fencepost_downgrade(NULL), FENCEPOST_RESULT_NULL_POINTER);
    if (family != REDIS) {
        grant = hold_with(client, new_name("released"), WRITER);
        CHECK_RESULT(fencepost_release(grant), FENCEPOST_OK);
        CHECK_RESULT(fencepost_downgrade(grant), FENCEPOST_RESULT_NOT_HELD);
        fencepost_grant_free(grant);
        grant = hold_with(client, new_name("capped"), FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_WRITER, .max_hold = 50));
        CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_MAX_HOLD);
        CHECK_RESULT(fencepost_downgrade(grant), FENCEPOST_RESULT_MAX_HOLD);
        fencepost_grant_free(grant);
    }
    close_client(client);
}

/* An owner also reads under its own writer: when its writer grants are released, other readers get the lock. */
static void owners_go_on_as_readers(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("owners");
    fencepost_grant *writers[2], *reading, *foreign, *none = NULL;
    fencepost_attempt *waiting;
    uint64_t fence;
    int round;

    for (round = 0; round < 3; round++) {
        writers[0] = hold_with(mine, name, OWN_WRITER);
        writers[1] = hold_with(mine, name, OWN_WRITER);
        reading = hold_with(mine, name, OWN_READER);
        CHECK_RESULT(fencepost_downgrade(reading), FENCEPOST_RESULT_NOT_A_WRITER);
        fence = fencepost_grant_fence(reading);
        waiting = begin(other, name, READER);
        EVENTUALLY(strcmp(line(mine, name), "Es") == 0);
        let_go(writers[0]);
        CHECK(strcmp(line(mine, name), "Es") == 0);
        /* A blocking release, a release step by step, or a free. */
        if (round == 0) {
            let_go(writers[1]);
        } else if (round == 1) {
            CHECK_RESULT(fencepost_release_start(writers[1]), FENCEPOST_OK);
            EVENTUALLY(fencepost_release_finish(writers[1]) == FENCEPOST_OK);
            CHECK_RESULT(fencepost_release(writers[1]), FENCEPOST_RESULT_NOT_HELD);
            fencepost_grant_free(writers[1]);
        } else {
            fencepost_grant_free(writers[1]);
        }
        foreign = granted(waiting);
        CHECK(fencepost_grant_is_valid(reading) && fencepost_grant_fence(reading) == fence);
        CHECK_RESULT(fencepost_try_acquire_with(mine, name, OWN_WRITER, &none), FENCEPOST_RESULT_UPGRADE);
        let_go(hold_with(mine, name, OWN_READER));
        let_go(foreign);
        CHECK_RESULT(fencepost_try_acquire_with(other, name, WRITER, &none), FENCEPOST_RESULT_NOT_AVAILABLE);
        let_go(reading);
        let_go(hold_with(other, name, WRITER));
    }
    close_client(mine);
    close_client(other);
}

/* Each grant of an owner is downgraded separately, and the lock with the last one. A grant may be released during its
 * downgrade.
 */
static void each_by_itself(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("together");
    fencepost_grant *one = hold_with(mine, name, OWN_WRITER), *two = hold_with(mine, name, OWN_WRITER), *none = NULL;

    CHECK_RESULT(fencepost_downgrade(one), FENCEPOST_OK);
    CHECK_RESULT(fencepost_downgrade(one), FENCEPOST_RESULT_NOT_A_WRITER);
    CHECK(strcmp(line(mine, name), "E") == 0);
    let_go(hold_with(mine, name, OWN_WRITER));
    CHECK_RESULT(fencepost_downgrade_start(two), FENCEPOST_OK);
    CHECK_RESULT(fencepost_try_acquire_with(mine, name, OWN_WRITER, &none), FENCEPOST_RESULT_UPGRADE);
    EVENTUALLY(fencepost_downgrade_finish(two) != FENCEPOST_RESULT_PENDING);
    CHECK_RESULT(fencepost_downgrade_finish(two), FENCEPOST_OK);
    CHECK_RESULT(fencepost_downgrade(two), FENCEPOST_RESULT_NOT_A_WRITER);
    let_go(hold_with(other, name, READER));
    let_go(one);
    CHECK(fencepost_grant_is_valid(two));
    let_go(two);
    one = hold_with(mine, name, WRITER);
    CHECK_RESULT(fencepost_downgrade_start(one), FENCEPOST_OK);
    CHECK_RESULT(fencepost_release(one), FENCEPOST_OK);
    CHECK_RESULT(fencepost_downgrade_finish(one), FENCEPOST_RESULT_NOT_HELD);
    fencepost_grant_free(one);
    let_go(hold_with(other, name, WRITER));
    CHECK(strcmp(line(mine, name), "") == 0);
    close_client(mine);
    close_client(other);
}

/* A downgraded grant can be lost like any other: by a break, and with its session. */
static void lost_after_a_downgrade(void) {
    fencepost_client *mine = client_of(url(ZOOKEEPER, "")), *other = client_of(url(ZOOKEEPER, ""));
    const char *name = new_name("lost"), *at = NULL, *proxy;
    const fencepost_options *revocable = FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_WRITER, .revocable = true);
    fencepost_grant *grant = hold_with(mine, name, revocable);
    fencepost_lock *lock = lock_with(other, name, READER);
    fencepost_contenders *list = NULL;

    CHECK_RESULT(fencepost_downgrade(grant), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_contenders(lock, &list), FENCEPOST_OK);
    CHECK(fencepost_contenders_count(list) == 1 && fencepost_contenders_at(list, 0)->shared);
    CHECK_RESULT(fencepost_lock_break(lock, fencepost_contenders_at(list, 0)), FENCEPOST_OK);
    CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_DELETED);
    fencepost_contenders_free(list);
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
    let_go(hold_with(other, name, WRITER));
    close_client(mine);

    proxy = proxy_open("zookeeper", &at);
    mine = client_of(url_of("zk://", at, "?session_timeout=3000"));
    grant = hold_with(mine, name, WRITER);
    CHECK_RESULT(fencepost_downgrade(grant), FENCEPOST_OK);
    control("id", "proxy-cut %s", proxy);
    CHECK(fencepost_grant_wait_lost(grant, LONG) >= FENCEPOST_RESULT_LEASE_ENDED);
    fencepost_grant_free(grant);
    let_go(hold_with(other, name, WRITER));
    control("id", "proxy-heal %s", proxy);
    fencepost_client_free(mine);
    control("id", "proxy-close %s", proxy);
    close_client(other);
}

/* Without the right to create the reader's node, a downgrade fails, and the grant is still a writer's. */
static void a_downgrade_that_is_refused(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, ""));
    zhandle_t *raw = zookeeper_open(address(ZOOKEEPER), 4000);
    const char *name = new_name("refused");
    fencepost_grant *one = hold_with(client, name, OWN_WRITER), *reading = hold_with(client, name, OWN_READER);
    struct ACL right = {ZOO_PERM_READ | ZOO_PERM_DELETE | ZOO_PERM_ADMIN, {"world", "anyone"}};
    struct ACL_vector rights = {1, &right};
    char path[1024];

    snprintf(path, sizeof path, "/%s", name);
    CHECK(zoo_set_acl(raw, path, -1, &rights) == ZOK);
    CHECK_RESULT(fencepost_downgrade(one), FENCEPOST_RESULT_NO_PERMISSION);
    CHECK(fencepost_grant_is_valid(one) && strcmp(line(client, name), "E") == 0);
    let_go(hold_with(client, name, OWN_WRITER));
    CHECK_RESULT(fencepost_release(one), FENCEPOST_RESULT_NO_PERMISSION);
    CHECK(!fencepost_grant_is_valid(one) && fencepost_grant_is_valid(reading));
    fencepost_grant_free(one);
    let_go(reading);
    CHECK(strcmp(line(client, name), "") == 0);
    zoo_delete(raw, path, -1);
    zookeeper_close(raw);
    close_client(client);
}

int main(void) {
    enum family family;

    for (family = 0; family < FAMILIES; family++) {
        TEST_ON(only_writers, family, label(family));
        if (family == REDIS)
            continue;
        TEST_ON(readers_get_in, family, label(family));
        TEST_ON(owners_go_on_as_readers, family, label(family));
        TEST_ON(each_by_itself, family, label(family));
    }
    TEST(lost_after_a_downgrade);
    TEST(a_downgrade_that_is_refused);
    return check_close();
}
