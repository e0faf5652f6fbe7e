/* Inspections: they list holders and waiters, revoke, and break. */
#include <poll.h>

#include "support.h"

static fencepost_lock *lock_of(fencepost_client *client, const char *name, const fencepost_options *options) {
    fencepost_lock *lock = NULL;

    CHECK_RESULT(fencepost_lock_open(client, name, options, &lock), FENCEPOST_OK);
    return lock;
}

static fencepost_contenders *look_at(fencepost_lock *lock) {
    fencepost_contenders *contenders = NULL;

    CHECK_RESULT(fencepost_lock_contenders(lock, &contenders), FENCEPOST_OK);
    return contenders;
}

/* The contender that holds, or the one that does not. */
static const fencepost_contender *the(const fencepost_contenders *contenders, bool holds) {
    const fencepost_contender *found = NULL;
    size_t i;

    for (i = 0; i < fencepost_contenders_count(contenders); i++) {
        if (fencepost_contenders_at(contenders, i)->holds == holds)
            found = fencepost_contenders_at(contenders, i);
    }
    return found;
}

static void who_holds_and_who_waits(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("inspected");
    fencepost_lock *held = lock_of(mine, name, FENCEPOST_OPTIONS(.identifier = "till 7"));
    fencepost_lock *lock = lock_of(other, name, FENCEPOST_OPTIONS(.identifier = "till 8"));
    fencepost_contenders *contenders = look_at(lock);
    const fencepost_contender *holder, *waiter;
    fencepost_attempt *attempt = NULL;
    fencepost_grant *grant = NULL;

    CHECK(fencepost_contenders_count(contenders) == 0 && fencepost_contenders_at(contenders, 0) == NULL);
    fencepost_contenders_free(contenders);
    CHECK_RESULT(fencepost_lock_acquire(held, LONG, &grant), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, FENCEPOST_FOREVER, &attempt), FENCEPOST_OK);
    EVENTUALLY(fencepost_attempt_ahead(attempt) == 1);
    contenders = look_at(held);
    CHECK(fencepost_contenders_count(contenders) == 2 && fencepost_contenders_at(contenders, 2) == NULL);
    holder = the(contenders, true), waiter = the(contenders, false);
    NEED(holder != NULL && waiter != NULL);
    CHECK(strcmp(holder->identifier, "till 7") == 0 && strcmp(waiter->identifier, "till 8") == 0);
    CHECK(strstr(holder->node, name) != NULL && strstr(waiter->node, "-lock-") != NULL);
    CHECK(holder->fence == fencepost_grant_fence(grant) && waiter->fence > holder->fence);
    CHECK(!holder->shared && holder->session != 0 && holder->session != waiter->session);
    if (family == ZOOKEEPER)
        CHECK(holder->since > 1700000000000 && waiter->since >= holder->since);
    fencepost_contenders_free(contenders);
    fencepost_attempt_free(attempt);
    let_go(grant);
    fencepost_lock_free(held);
    fencepost_lock_free(lock);
    close_client(mine);
    close_client(other);
}

static void readers_share(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("readers");
    fencepost_lock *reader = lock_of(client, name, FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER));
    fencepost_lock *writer = lock_of(client, name, FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_WRITER));
    fencepost_grant *one = NULL, *two = NULL;
    fencepost_contenders *contenders;

    CHECK_RESULT(fencepost_lock_acquire(reader, LONG, &one), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire(reader, LONG, &two), FENCEPOST_OK);
    contenders = look_at(writer);
    CHECK(fencepost_contenders_count(contenders) == 2 && the(contenders, false) == NULL);
    CHECK(the(contenders, true)->shared);
    fencepost_contenders_free(contenders);
    let_go(one);
    let_go(two);
    fencepost_lock_free(reader);
    fencepost_lock_free(writer);
    close_client(client);
}

static void permits_are_held(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    fencepost_lock *lock =
        lock_of(client, new_name("permits"), FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = 2));
    fencepost_grant *one = NULL, *two = NULL;
    fencepost_contenders *contenders;

    CHECK_RESULT(fencepost_lock_acquire(lock, LONG, &one), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_acquire(lock, LONG, &two), FENCEPOST_OK);
    contenders = look_at(lock);
    CHECK(fencepost_contenders_count(contenders) == 2 && the(contenders, false) == NULL);
    fencepost_contenders_free(contenders);
    let_go(one);
    let_go(two);
    fencepost_lock_free(lock);
    close_client(client);
}

static void asked_and_broken(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("broken");
    fencepost_lock *held = lock_of(mine, name, FENCEPOST_OPTIONS(.revocable = true));
    fencepost_lock *seen = lock_of(other, name, NULL);
    fencepost_contenders *contenders;
    fencepost_contender stale;
    fencepost_grant *grant = NULL;

    CHECK_RESULT(fencepost_lock_acquire(held, LONG, &grant), FENCEPOST_OK);
    contenders = look_at(seen);
    NEED(fencepost_contenders_count(contenders) == 1);
    /* A revoke or break does not affect another contender that came later. */
    stale = *fencepost_contenders_at(contenders, 0);
    stale.fence++;
    CHECK_RESULT(fencepost_lock_break(seen, &stale), FENCEPOST_RESULT_NO_CONTENDER);
    CHECK_RESULT(fencepost_lock_revoke(seen, &stale), FENCEPOST_RESULT_NO_CONTENDER);
    CHECK(!fencepost_grant_revoke_requested(grant) && !fencepost_grant_is_lost(grant));
    CHECK_RESULT(fencepost_lock_revoke(seen, fencepost_contenders_at(contenders, 0)), FENCEPOST_OK);
    CHECK_RESULT(fencepost_grant_wait_revoke_requested(grant, LONG), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_break(seen, fencepost_contenders_at(contenders, 0)), FENCEPOST_OK);
    CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_DELETED);
    CHECK_RESULT(fencepost_lock_break(seen, fencepost_contenders_at(contenders, 0)), FENCEPOST_RESULT_NO_CONTENDER);
    fencepost_contenders_free(contenders);
    fencepost_grant_free(grant);
    fencepost_lock_free(held);
    fencepost_lock_free(seen);
    close_client(mine);
    close_client(other);
}

static fencepost_result
driven(fencepost_client *client, fencepost_inspection *inspection, fencepost_contenders **contenders) {
    struct pollfd news = {fencepost_client_fd(client), POLLIN, 0};
    int64_t end = millis() + LONG;
    fencepost_result result;

    while ((result = fencepost_inspection_finish(inspection, contenders)) == FENCEPOST_RESULT_PENDING &&
           millis() < end) {
        poll(&news, 1, fencepost_client_timeout(client));
        CHECK_RESULT(fencepost_client_process(client), FENCEPOST_OK);
    }
    return result;
}

static void step_by_step(enum family family) {
    fencepost_client *client = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("looked-at");
    /* A holder that waits for a revocation request is notified of a break at once, not at its next confirmation. */
    fencepost_grant *grant = hold_with(other, name, FENCEPOST_OPTIONS(.revocable = true));
    fencepost_contenders *contenders = NULL, *none = NULL;
    fencepost_inspection *inspection = NULL;
    fencepost_lock *lock = lock_of(client, name, NULL);
    const fencepost_contender *holder;

    CHECK(fencepost_client_fd(client) >= 0);
    CHECK_RESULT(fencepost_lock_contenders_start(lock, &inspection), FENCEPOST_OK);
    CHECK_RESULT(driven(client, inspection, &contenders), FENCEPOST_OK);
    CHECK_RESULT(fencepost_inspection_finish(inspection, &none), FENCEPOST_OK);
    CHECK(none == NULL && fencepost_contenders_count(contenders) == 1);
    fencepost_inspection_free(inspection);
    holder = fencepost_contenders_at(contenders, 0);
    NEED(holder != NULL);
    CHECK_RESULT(fencepost_lock_revoke_start(lock, holder, &inspection), FENCEPOST_OK);
    CHECK_RESULT(driven(client, inspection, NULL), FENCEPOST_OK);
    fencepost_inspection_free(inspection);
    /* The program frees an inspection before its result. */
    CHECK_RESULT(fencepost_lock_contenders_start(lock, &inspection), FENCEPOST_OK);
    fencepost_inspection_free(inspection);
    CHECK_RESULT(fencepost_lock_break_start(lock, holder, &inspection), FENCEPOST_OK);
    CHECK_RESULT(driven(client, inspection, &none), FENCEPOST_OK);
    CHECK(fencepost_contenders_count(none) <= 1);
    fencepost_contenders_free(none);
    fencepost_inspection_free(inspection);
    CHECK_RESULT(fencepost_grant_wait_lost(grant, LONG), FENCEPOST_RESULT_DELETED);
    fencepost_grant_free(grant);
    fencepost_contenders_free(contenders);
    fencepost_lock_free(lock);
    close_client(client);
    close_client(other);
}

/* A holder in an event loop, and a revocation request. */
static void asked_in_a_loop(enum family family) {
    fencepost_client *mine = client_of(url(family, "")), *other = client_of(url(family, ""));
    const char *name = new_name("asked");
    struct pollfd news = {fencepost_client_fd(mine), POLLIN, 0};
    fencepost_lock *seen = lock_of(other, name, NULL);
    fencepost_contenders *contenders;
    fencepost_grant *grant = NULL;
    int64_t begun;

    CHECK_RESULT(fencepost_acquire_with(mine, name, FENCEPOST_OPTIONS(.revocable = true), LONG, &grant), FENCEPOST_OK);
    contenders = look_at(seen);
    NEED(fencepost_contenders_count(contenders) == 1);
    CHECK_RESULT(fencepost_lock_revoke(seen, fencepost_contenders_at(contenders, 0)), FENCEPOST_OK);
    begun = millis();
    while (!fencepost_grant_revoke_requested(grant) && millis() - begun < LONG) {
        poll(&news, 1, fencepost_client_timeout(mine));
        CHECK_RESULT(fencepost_client_process(mine), FENCEPOST_OK);
    }
    /* The holder gets the request long before the next confirmation of the session. */
    CHECK(millis() - begun < 1000);
    fencepost_contenders_free(contenders);
    let_go(grant);
    fencepost_lock_free(seen);
    close_client(mine);
    close_client(other);
}

static void bad_input(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    const fencepost_contender elsewhere = {"/elsewhere/x-lock-0000000001", "", 1, 1, -1, 1, true, false};
    const fencepost_contender nowhere = {NULL, NULL, 0, 0, 0, 0, false, false};
    fencepost_contenders *contenders = NULL;
    fencepost_inspection *inspection = NULL;
    fencepost_lock *lock = lock_of(client, new_name("bad"), NULL);

    CHECK_RESULT(fencepost_lock_contenders(NULL, &contenders), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_lock_contenders(lock, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_lock_contenders_start(lock, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_lock_break(lock, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_lock_break_start(lock, NULL, &inspection), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_lock_revoke(lock, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_lock_revoke_start(lock, NULL, &inspection), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_inspection_finish(NULL, &contenders), FENCEPOST_RESULT_NULL_POINTER);
    if (family == REDIS) {
        CHECK_FAULT(fencepost_lock_revoke(lock, &nowhere), FENCEPOST_RESULT_UNKNOWN_OPTION, "ZooKeeper");
        CHECK_RESULT(fencepost_lock_break(lock, &elsewhere), FENCEPOST_RESULT_NO_CONTENDER);
        CHECK_RESULT(fencepost_lock_break(lock, &nowhere), FENCEPOST_RESULT_NO_CONTENDER);
        CHECK_RESULT(fencepost_lock_revoke_start(lock, &elsewhere, &inspection), FENCEPOST_RESULT_UNKNOWN_OPTION);
    } else {
        CHECK(fencepost_lock_break(lock, &elsewhere) / 100 == 1);
        CHECK(fencepost_lock_revoke(lock, &nowhere) / 100 == 1);
        CHECK(fencepost_lock_break_start(lock, &nowhere, &inspection) / 100 == 1);
    }
    if (family != REDIS) {
        static const char *const names[] = {"a", "b"};
        fencepost_lock *many = lock_of(
            client, NULL, FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .names = names, .name_count = 2));

        CHECK_FAULT(
            fencepost_lock_contenders(many, &contenders), FENCEPOST_RESULT_UNKNOWN_OPTION, "inspect each of its locks");
        fencepost_lock_free(many);
    }
    CHECK(contenders == NULL && inspection == NULL);
    fencepost_contenders_free(NULL);
    fencepost_inspection_free(NULL);
    CHECK(fencepost_contenders_count(NULL) == 0 && fencepost_contenders_at(NULL, 0) == NULL);
    CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
    CHECK_RESULT(fencepost_lock_contenders(lock, &contenders), FENCEPOST_RESULT_CLIENT_CLOSED);
    fencepost_client_free(client);
    fencepost_lock_free(lock);
}

static void forbidden(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, ""));
    zhandle_t *raw = zookeeper_open(address(ZOOKEEPER), 4000);
    const char *name = new_name("not-to-be-seen");
    fencepost_contenders *contenders = NULL;
    fencepost_lock *lock = lock_of(client, name, NULL);
    struct ACL nobody[] = {{ZOO_PERM_DELETE, {"world", "anyone"}}};
    struct ACL_vector acl = {1, nobody};
    const char *path;

    let_go(hold(client, new_name("makes-the-parent")));
    path = url_of("/", name, "");
    CHECK(zoo_create(raw, path, NULL, -1, &acl, 0, NULL, 0) == ZOK);
    CHECK_RESULT(fencepost_lock_contenders(lock, &contenders), FENCEPOST_RESULT_NO_PERMISSION);
    zoo_delete(raw, path, -1);
    zookeeper_close(raw);
    fencepost_lock_free(lock);
    close_client(client);
    /* No server listens at this address. */
    client = client_of("zk://127.0.0.1:1");
    lock = lock_of(client, "x", NULL);
    CHECK_RESULT(fencepost_lock_contenders(lock, &contenders), FENCEPOST_RESULT_UNREACHABLE);
    CHECK(contenders == NULL);
    fencepost_lock_free(lock);
    close_client(client);
}

int main(void) {
    int family;

    for (family = 0; family < FAMILIES; family++) {
        if (address((enum family)family) == NULL)
            continue;
#define ON(name) TEST_ON(name, (enum family)family, label((enum family)family))
        ON(bad_input);
        if (family == REDIS)
            continue;
        ON(who_holds_and_who_waits);
        ON(readers_share);
        ON(permits_are_held);
        ON(asked_and_broken);
        ON(step_by_step);
        ON(asked_in_a_loop);
    }
    if (address(ZOOKEEPER) != NULL)
        TEST(forbidden);
    return check_close();
}
