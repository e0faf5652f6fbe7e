/* Servers that become silent without closing their connections: the client connects to another server in the same
 * session. Each proxy acts as a server. */
#include <poll.h>

#include "support.h"

#define SESSION "?session_timeout=10000"
/* How long the hub waits between two probes of such a session (ms). */
#define BETWEEN 3333

struct proxy {
    char id[32], address[64];
};

static bool proxies_open(struct proxy *proxies, int count) {
    const char *id = NULL, *address = NULL;
    int i;

    for (i = 0; i < count; i++) {
        if (!CHECK((id = proxy_open("zookeeper", &address)) != NULL))
            return false;
        snprintf(proxies[i].id, sizeof proxies[i].id, "%s", id);
        snprintf(proxies[i].address, sizeof proxies[i].address, "%s", address);
    }
    return true;
}

static void proxies_close(struct proxy *proxies, int count) {
    int i;

    for (i = 0; i < count; i++)
        control("id", "proxy-close %s", proxies[i].id);
}

static int number(const char *text) {
    return text == NULL ? -1 : atoi(text);
}

static int connections(const struct proxy *proxy) {
    return number(control("connections", "proxy-pass %s", proxy->id));
}

static int requests(const struct proxy *proxy) {
    return number(control("total", "proxy-count %s", proxy->id));
}

/* Waits for so long, and returns whether the grant was held all the time. */
static bool keeps(fencepost_grant *grant, int millis_) {
    int64_t end = millis() + millis_;
    bool kept = true;

    while (kept && millis() < end) {
        kept = !fencepost_grant_is_lost(grant);
        poll(NULL, 0, 10);
    }
    return kept;
}

/* The client's server becomes silent for good, at this time after a probe. */
static void silence(int phase) {
    struct proxy proxies[2];
    char name[128];
    fencepost_client *client, *other = client_of(url(ZOOKEEPER, ""));
    fencepost_grant *grant, *none = NULL;
    int silent, before;

    NEED(proxies_open(proxies, 2));
    snprintf(name, sizeof name, "%s", new_name("silent"));
    client = client_of(url_of("zk://", url_of(proxies[0].address, ",", proxies[1].address), SESSION));
    grant = hold(client, name);
    NEED(grant != NULL);
    silent = connections(&proxies[0]) == 1 ? 0 : 1;
    CHECK(connections(&proxies[silent]) == 1 && connections(&proxies[!silent]) == 0);
    before = requests(&proxies[silent]);
    EVENTUALLY(requests(&proxies[silent]) > before);
    poll(NULL, 0, phase);
    CHECK(control("held", "proxy-hold %s", proxies[silent].id) != NULL);
    CHECK(keeps(grant, 15000));
    /* The client confirms the session again and again, through the other server. */
    CHECK(fencepost_grant_is_valid(grant) && connections(&proxies[!silent]) == 1);
    CHECK_RESULT(fencepost_acquire(other, name, BRIEF, &none), FENCEPOST_RESULT_TIMEOUT);
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_OK);
    let_go(grant);
    let_go(hold(other, name));
    close_client(client);
    close_client(other);
    proxies_close(proxies, 2);
}

static void silent_behind_a_probe(void) {
    silence(0);
}

static void silent_between_two_probes(void) {
    silence(BETWEEN / 2);
}

static void silent_before_a_probe(void) {
    silence(BETWEEN - 200);
}

/* The server restarts, and does not reply to the handshakes of two connections. */
static void handshakes_without_an_answer(void) {
    fencepost_client *client;
    fencepost_grant *grant;
    struct proxy proxy;

    NEED(proxies_open(&proxy, 1));
    client = client_of(url_of("zk://", proxy.address, SESSION));
    grant = hold(client, new_name("unanswered"));
    NEED(grant != NULL);
    CHECK(control("id", "proxy-ignore %s 2", proxy.id) != NULL);
    CHECK(control("id", "proxy-cut %s", proxy.id) != NULL && control("id", "proxy-heal %s", proxy.id) != NULL);
    CHECK(keeps(grant, 10000));
    EVENTUALLY(fencepost_grant_is_valid(grant));
    let_go(grant);
    close_client(client);
    proxies_close(&proxy, 1);
}

/* Of two servers, one stops, then the other one, and the first one starts again: the client tries every server. */
static void every_server_is_tried(void) {
    struct proxy proxies[2];
    fencepost_client *client;
    int round, here;

    NEED(proxies_open(proxies, 2));
    client = client_of(url_of("zk://", url_of(proxies[0].address, ",", proxies[1].address), SESSION));
    let_go(hold(client, new_name("tried")));
    here = connections(&proxies[0]) == 1 ? 0 : 1;
    for (round = 0; round < 4; round++) {
        CHECK(control("id", "proxy-cut %s", proxies[!here].id) != NULL);
        CHECK(control("id", "proxy-cut %s", proxies[here].id) != NULL);
        here = round < 2 ? here : !here;
        CHECK(control("id", "proxy-heal %s", proxies[here].id) != NULL);
        let_go(hold(client, new_name("tried")));
        CHECK(connections(&proxies[here]) == 1);
    }
    close_client(client);
    proxies_close(proxies, 2);
}

int main(void) {
    if (address(ZOOKEEPER) == NULL)
        return check_close();
    TEST(every_server_is_tried);
    TEST(handshakes_without_an_answer);
    TEST(silent_behind_a_probe);
    TEST(silent_between_two_probes);
    TEST(silent_before_a_probe);
    return check_close();
}
