/* A client that is closed twice, also at the same time: the first close reports the locks that it could not release,
 * and the others wait for its end. */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "support.h"

/* The number of connections of this process. */
static int sockets(void) {
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    char place[300], target[8];
    int count = 0;

    while ((entry = readdir(folder)) != NULL) {
        snprintf(place, sizeof place, "/proc/self/fd/%s", entry->d_name);
        count += readlink(place, target, sizeof target) == sizeof target && memcmp(target, "socket:[", 8) == 0;
    }
    closedir(folder);
    return count;
}

struct closer {
    pthread_t thread;
    fencepost_client *client;
    fencepost_result result;
    int left; /* connections after its call has returned */
};

static void *close_it(void *argument) {
    struct closer *closer = argument;

    closer->result = fencepost_close(closer->client);
    closer->left = sockets();
    return NULL;
}

static void start_closing(struct closer *closer, fencepost_client *client) {
    closer->client = client;
    pthread_create(&closer->thread, NULL, close_it, closer);
}

/* A client with a grant that it cannot release, because its proxy passes nothing on. So the first close takes until its
 * time limit. */
struct silent {
    fencepost_client *client;
    fencepost_grant *grant;
    char proxy[32];
    int before; /* connections, without the client */
};

static bool silence(struct silent *silent, enum family family) {
    const char *const servers[] = {"", "zookeeper", "redis-1"}, *const schemes[] = {"", "zk://", "redis://"};
    const char *at = NULL, *proxy = proxy_open(servers[family], &at);

    if (!CHECK(proxy != NULL))
        return false;
    snprintf(silent->proxy, sizeof silent->proxy, "%s", proxy);
    silent->before = sockets();
    silent->client = client_of(url_of(schemes[family], at, family == ZOOKEEPER ? "?session_timeout=60000" : ""));
    silent->grant = hold(silent->client, new_name("twice"));
    if (!CHECK(silent->grant != NULL))
        return false;
    CHECK(sockets() > silent->before);
    control("ok", "proxy-hold %s", silent->proxy);
    return true;
}

static void free_silent(struct silent *silent) {
    fencepost_grant_free(silent->grant);
    fencepost_client_free(silent->client);
    control("ok", "proxy-close %s", silent->proxy);
}

/* The other closes begin after the first one: its grants are lost by then. */
static void closed_by_many_threads(enum family family) {
    struct closer closers[4] = {{0}};
    struct silent silent;
    int i;

    if (!silence(&silent, family))
        return;
    start_closing(&closers[0], silent.client);
    CHECK_RESULT(fencepost_grant_wait_lost(silent.grant, LONG), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    for (i = 1; i < 4; i++)
        start_closing(&closers[i], silent.client);
    CHECK_RESULT(fencepost_close_start(silent.client), FENCEPOST_OK);
    EVENTUALLY(fencepost_close_finish(silent.client) == FENCEPOST_OK);
    CHECK(sockets() == silent.before);
    for (i = 0; i < 4; i++) {
        pthread_join(closers[i].thread, NULL);
        CHECK_RESULT(closers[i].result, i == 0 ? FENCEPOST_RESULT_CLEANUP_INCOMPLETE : FENCEPOST_OK);
        CHECK(closers[i].left == silent.before);
    }
    free_silent(&silent);
}

/* A free also waits for another thread's close, because that thread still uses the client. */
static void freed_while_it_is_closed(enum family family) {
    struct closer closer = {0};
    struct silent silent;

    if (!silence(&silent, family))
        return;
    start_closing(&closer, silent.client);
    CHECK_RESULT(fencepost_grant_wait_lost(silent.grant, LONG), FENCEPOST_RESULT_LOST_CONNECTION_CLOSED);
    fencepost_client_free(silent.client);
    CHECK(sockets() == silent.before);
    pthread_join(closer.thread, NULL);
    CHECK_RESULT(closer.result, FENCEPOST_RESULT_CLEANUP_INCOMPLETE);
    silent.client = NULL;
    free_silent(&silent);
}

/* A loop begins a close, and another thread ends it: the loop is notified of the end. */
static void loop_waits_for_another_thread(enum family family) {
    struct closer closer = {0};
    struct pollfd source = {-1, POLLIN, 0};
    struct silent silent;

    if (!silence(&silent, family))
        return;
    source.fd = fencepost_client_fd(silent.client);
    CHECK_RESULT(fencepost_close_start(silent.client), FENCEPOST_OK);
    start_closing(&closer, silent.client);
    pthread_join(closer.thread, NULL);
    CHECK_RESULT(closer.result, FENCEPOST_RESULT_CLEANUP_INCOMPLETE);
    CHECK(poll(&source, 1, 0) == 1);
    CHECK_RESULT(fencepost_close_finish(silent.client), FENCEPOST_OK);
    free_silent(&silent);
}

/* ---- a close inside a close ---- */

static fencepost_client *own;
static fencepost_result inside;

static int no_descriptor(void *self) {
    (void)self;
    return -1;
}

static void no_command(void *self, fencepost_hub *hub, uint64_t key, const fencepost_command *command) {
    (void)self, (void)hub, (void)key, (void)command;
}

static size_t not_busy(void *self) {
    (void)self;
    return 0;
}

/* Acts like a library that calls a program's callback, which closes the client. */
static void calls_back(void *self, bool silent) {
    (void)self, (void)silent;
    inside = fencepost_close(own);
}

static void nothing_to_free(void *self) {
    (void)self;
}

static const fencepost_driver calling_back = {
    .command = no_command,
    .descriptor = no_descriptor,
    .busy = not_busy,
    .close = calls_back,
    .free = nothing_to_free,
};

/* The inner close would wait for its own thread. */
static void close_within_a_close(void) {
    fencepost_hub *hub;

    CHECK_RESULT(fencepost_hub_new(FENCEPOST_FAMILY_REDIS, fencepost_now(), &hub), FENCEPOST_OK);
    CHECK_RESULT(fencepost_client_new(hub, "redis-string", NULL, &calling_back, NULL, &own), FENCEPOST_OK);
    CHECK_RESULT(fencepost_close(own), FENCEPOST_OK);
    CHECK_RESULT(inside, FENCEPOST_RESULT_WOULD_BLOCK);
    fencepost_client_free(own);
}

int main(void) {
    enum family family;

    TEST(close_within_a_close);
    for (family = ZOOKEEPER; family < FAMILIES; family++) {
        if (address(family) == NULL)
            continue;
        TEST_ON(closed_by_many_threads, family, label(family));
    }
    /* These do not depend on the server, and each takes the time of a close: one server is enough. */
    if (address(REDIS) != NULL) {
        TEST_ON(freed_while_it_is_closed, REDIS, label(REDIS));
        TEST_ON(loop_waits_for_another_thread, REDIS, label(REDIS));
    }
    return check_close();
}
