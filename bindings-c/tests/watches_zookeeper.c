/* The watches of contenders that have ended do not stay in libzookeeper's table. (Watches that other holds of an owner
 * need do stay.) The test counts every watch event that the driver reports to the hub. */
#include <dlfcn.h>

#include "support.h"

#define MANY 50

static int events;

fencepost_result fencepost_hub_watch(fencepost_hub *hub, uint64_t now, uint64_t id, int64_t session, uint32_t event) {
    fencepost_result (*next)(fencepost_hub *, uint64_t, uint64_t, int64_t, uint32_t);
    void *symbol = dlsym(RTLD_NEXT, "fencepost_hub_watch");

    memcpy(&next, &symbol, sizeof next);
    __atomic_add_fetch(&events, 1, __ATOMIC_RELAXED);
    return next(hub, now, id, session, event);
}

/* Waits until a watch is set, and then cancels. The server replies in order, so the replies to later requests come
 * after the reply to this one. */
static void give_up(fencepost_client *client, fencepost_lock *lock) {
    fencepost_attempt *attempt = NULL;
    fencepost_grant *none = NULL;
    int i;

    CHECK_RESULT(fencepost_lock_acquire_start(lock, FENCEPOST_FOREVER, &attempt), FENCEPOST_OK);
    for (i = 0; i < 2; i++)
        let_go(hold(client, new_name("behind")));
    CHECK_RESULT(fencepost_attempt_cancel(attempt), FENCEPOST_OK);
    CHECK_RESULT(fencepost_attempt_wait(attempt, &none), FENCEPOST_RESULT_CANCELLED);
    fencepost_attempt_free(attempt);
}

static void who_gives_up_leaves_no_watch(const fencepost_options *options) {
    fencepost_client *client = client_of(url(ZOOKEEPER, "")), *other = client_of(url(ZOOKEEPER, ""));
    fencepost_grant *grant;
    fencepost_attempt *attempt = NULL;
    fencepost_lock *lock;
    char name[128];
    int i, before;

    snprintf(name, sizeof name, "%s", new_name("given-up"));
    lock = lock_with(other, name, options);
    grant = hold_with(client, name, options);
    CHECK_RESULT(fencepost_lock_acquire_start(lock, FENCEPOST_FOREVER, &attempt), FENCEPOST_OK);
    EVENTUALLY(fencepost_attempt_ahead(attempt) == (options != NULL && options->unfair ? -1 : 1));
    for (i = 0; i < MANY; i++)
        give_up(other, lock);
    before = __atomic_load_n(&events, __ATOMIC_RELAXED);
    let_go(grant);
    /* The remaining waiter gets the event of the same node or list. */
    CHECK_RESULT(fencepost_attempt_wait(attempt, &grant), FENCEPOST_OK);
    let_go(grant);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    close_client(client);
    close_client(other);
    /* Only the events of this waiter and of the holders. */
    CHECK(__atomic_load_n(&events, __ATOMIC_RELAXED) - before < MANY / 5);
}

/* All waiters watch the holder's node. */
static void of_a_node(void) {
    who_gives_up_leaves_no_watch(FENCEPOST_OPTIONS(.unfair = true));
}

/* All waiters except the first one watch the first waiter's node. */
static void of_a_queue(void) {
    who_gives_up_leaves_no_watch(NULL);
}

/* The watches in the queue of a semaphore, and the watch on the list of its permits. */
static void of_a_list(void) {
    who_gives_up_leaves_no_watch(FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = 1));
}

/* An owner's first hold ends, and the other holds still get the events of their grant. */
static void what_a_further_grant_watches_outlives_the_first(void) {
    /* With this session timeout, the client would detect the loss without a watch only after the test. */
    fencepost_client *mine = client_of(url(ZOOKEEPER, "?session_timeout=720000")),
                     *other = client_of(url(ZOOKEEPER, ""));
    const char *name = new_name("watches");
    const fencepost_options *owned = FENCEPOST_OPTIONS(.owner = "request-17", .revocable = true);
    fencepost_grant *first = hold_with(mine, name, owned), *second = hold_with(mine, name, owned), *third;
    fencepost_lock *lock = lock_with(other, name, NULL);
    fencepost_contenders *list = NULL;

    let_go(first);
    CHECK_RESULT(fencepost_lock_contenders(lock, &list), FENCEPOST_OK);
    NEED(fencepost_contenders_count(list) == 1);
    CHECK_RESULT(fencepost_lock_revoke(lock, fencepost_contenders_at(list, 0)), FENCEPOST_OK);
    CHECK_RESULT(fencepost_grant_wait_revoke_requested(second, LONG), FENCEPOST_OK);
    third = hold_with(mine, name, owned);
    CHECK(fencepost_grant_revoke_requested(third));
    let_go(second);
    CHECK_RESULT(fencepost_lock_break(lock, fencepost_contenders_at(list, 0)), FENCEPOST_OK);
    CHECK_RESULT(fencepost_grant_wait_lost(third, LONG), FENCEPOST_RESULT_DELETED);
    fencepost_grant_free(third);
    fencepost_contenders_free(list);
    fencepost_lock_free(lock);
    close_client(mine);
    close_client(other);
}

int main(void) {
    if (address(ZOOKEEPER) == NULL)
        return check_close();
    TEST(of_a_node);
    TEST(of_a_queue);
    TEST(of_a_list);
    TEST(what_a_further_grant_watches_outlives_the_first);
    return check_close();
}
