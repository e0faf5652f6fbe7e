/* Faults on every kind of server, and their effect on holders and waiters. The tests stop real servers. */
#include <poll.h>
#include <signal.h>

#include "waiting.h"

static void holder_is_killed(enum family family) {
    const char *rest = family == ZOOKEEPER ? "?session_timeout=3000" : "", *name = new_name("killed");
    fencepost_client *client = client_of(url(family, ""));
    struct process holder;
    struct waiter waiter;

    NEED(process_start(&holder, family == REDIS ? "quick" : "hold", url(family, rest), name));
    start_waiting_behind(&waiter, family, client, client, name);
    process_kill(&holder, SIGKILL);
    gets_it(&waiter);
    close_client(client);
}

/* The server executes the request, and its reply is lost. */
static void reply_is_lost(enum family family, int request) {
    const char *place, *proxy = proxy_open(family == ZOOKEEPER ? "zookeeper" : "redis-1", &place);
    fencepost_client *mine = client_of(url_of(family == ZOOKEEPER ? "zk://" : "redis://", place, ""));
    fencepost_client *other = client_of(url(family, ""));
    const char *name = new_name("lost-reply");
    fencepost_grant *grant;

    let_go(hold(mine, name)); /* connected, and the server knows the scripts */
    CHECK(control("id", "proxy-drop-replies %s %d", proxy, request) != NULL);
    grant = hold(mine, name);
    NEED(grant != NULL);
    let_go(grant);
    /* No client holds the lock. */
    grant = hold(other, name);
    let_go(grant);
    close_client(mine);
    close_client(other);
    control("id", "proxy-close %s", proxy);
}

static void acquire_is_lost(enum family family) {
    reply_is_lost(family, 1);
}

/* The second reply is, on ZooKeeper, that of the list or a confirmation; on Redis, that of the release. */
static void second_reply_is_lost(enum family family) {
    reply_is_lost(family, 2);
}

static void server_is_away(enum family family) {
    const char *server = family == ZOOKEEPER ? "zookeeper" : "redis-1";
    fencepost_client *client = client_of(url(family, ""));
    const char *name = new_name("away");
    fencepost_grant *grant = NULL;
    struct waiter waiter;

    let_go(hold(client, name)); /* from now on, an acquire waits for the server without a limit */
    CHECK(control("state", "stop %s", server) != NULL);
    CHECK_RESULT(fencepost_acquire(client, name, 300, &grant), FENCEPOST_RESULT_UNREACHABLE);
    CHECK(strlen(fencepost_detail()) > 0);
    start_waiting(&waiter, client, name);
    CHECK(control("state", "start %s", server) != NULL);
    gets_it(&waiter);
    close_client(client);
}

/* If the server does not reply, a close waits until its time limit, and reports the locks that it has left. */
static void closing_reports_what_it_left(enum family family) {
    const char *server = family == ZOOKEEPER ? "zookeeper" : "redis-1";
    fencepost_client *client = client_of(url(family, ""));
    fencepost_grant *grant = hold(client, new_name("left"));
    int64_t before;

    CHECK(control("state", "pause %s", server) != NULL);
    before = millis();
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_RESULT_RELEASE_UNCONFIRMED);
    CHECK(millis() - before >= 4900 && millis() - before < LONG);
    before = millis();
    CHECK_FAULT(fencepost_close(client), FENCEPOST_RESULT_CLEANUP_INCOMPLETE, "1 lock");
    /* The limit is five seconds, of which libzookeeper_mt's close may take one and a half. */
    CHECK(millis() - before >= (family == ZOOKEEPER && is_threaded() ? 3200 : 4700) && millis() - before < LONG);
    CHECK(control("state", "resume %s", server) != NULL);
    fencepost_grant_free(grant);
    fencepost_client_free(client);
}

/* One thread sleeps until a reply arrives, or until its next timer, which is much later. The timeout of another thread
 * ends before that. */
static void a_short_wait_beside_a_long_one(enum family family) {
    const char *server = family == ZOOKEEPER ? "zookeeper" : "redis-1";
    fencepost_client *client = client_of(url(family, family == ZOOKEEPER ? "?session_timeout=40000" : ""));
    fencepost_client *holder = client_of(url(family, family == ZOOKEEPER ? "?session_timeout=40000" : ""));
    const char *name = new_name("beside"), *other = new_name("beside");
    fencepost_grant *held = hold(holder, name), *grant = NULL;
    struct waiter waiter;
    int64_t before;

    let_go(hold(client, other));
    start_waiting_behind(&waiter, family, holder, client, name);
    CHECK(control("state", "pause %s", server) != NULL);
    before = millis();
    CHECK_RESULT(fencepost_acquire(client, other, 300, &grant), FENCEPOST_RESULT_UNREACHABLE);
    CHECK(millis() - before < 10000);
    CHECK(control("state", "resume %s", server) != NULL);
    let_go(held);
    gets_it(&waiter);
    close_client(holder);
    close_client(client);
}

int main(void) {
    int family;

    for (family = ZOOKEEPER; family < FAMILIES; family++) {
        if (address((enum family)family) == NULL)
            continue;
#define ON(name) TEST_ON(name, (enum family)family, label((enum family)family))
        ON(holder_is_killed);
        ON(acquire_is_lost);
        ON(second_reply_is_lost);
        ON(server_is_away);
        ON(a_short_wait_beside_a_long_one);
        ON(closing_reports_what_it_left);
    }
    return check_close();
}
