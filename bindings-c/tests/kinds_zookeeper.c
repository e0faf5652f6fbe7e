/* ZooKeeper's grants and other nodes: revocation requests, contenders of other layouts, holders, and missing rights.
 */
#include <poll.h>
#include <pthread.h>

#include "support.h"

#define READER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER)
#define WRITER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_WRITER)
#define KAZOO_READER FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER, .layout = "kazoo")

struct asker {
    pthread_t thread;
    zhandle_t *raw;
    char path[2048];
};

/* Requests a lock like Curator: writes a request into the holder's node. */
static void *ask(void *argument) {
    struct asker *asker = argument;

    CHECK(zoo_set(asker->raw, asker->path, "__REVOKE__", 10, -1) == ZOK);
    return NULL;
}

static void asked_for_the_lock(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, ""));
    const char *name = new_name("revoked");
    struct asker asker = {.raw = zookeeper_open(address(ZOOKEEPER), 4000)};
    fencepost_grant *grant = hold_with(client, name, FENCEPOST_OPTIONS(.revocable = true));

    CHECK(!fencepost_grant_revoke_requested(grant));
    CHECK_RESULT(fencepost_grant_wait_revoke_requested(grant, 100), FENCEPOST_RESULT_PENDING);
    CHECK(zookeeper_find(asker.raw, url_of("/", name, ""), "-lock-", asker.path, sizeof asker.path));
    pthread_create(&asker.thread, NULL, ask, &asker);
    CHECK_RESULT(fencepost_grant_wait_revoke_requested(grant, LONG), FENCEPOST_OK);
    pthread_join(asker.thread, NULL);
    /* The request does not end the grant. */
    CHECK(fencepost_grant_revoke_requested(grant) && fencepost_grant_is_valid(grant));
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_OK);
    CHECK_RESULT(fencepost_grant_wait_revoke_requested(grant, LONG), FENCEPOST_RESULT_NOT_HELD);
    fencepost_grant_free(grant);
    zookeeper_close(asker.raw);
    close_client(client);
}

static void waits_for_a_wish_that_does_not_come(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, ""));
    zhandle_t *raw = zookeeper_open(address(ZOOKEEPER), 4000);
    const char *name = new_name("deleted");
    fencepost_grant *grant = hold_with(client, name, FENCEPOST_OPTIONS(.revocable = true));
    char path[2048];

    CHECK(zookeeper_find(raw, url_of("/", name, ""), "-lock-", path, sizeof path));
    CHECK(zoo_delete(raw, path, -1) == ZOK);
    CHECK_RESULT(fencepost_grant_wait_revoke_requested(grant, LONG), FENCEPOST_RESULT_DELETED);
    CHECK(!fencepost_grant_revoke_requested(grant));
    fencepost_grant_free(grant);
    zookeeper_close(raw);
    close_client(client);
}

static void foreign_contenders_are_reported(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, ""));
    zhandle_t *raw = zookeeper_open(address(ZOOKEEPER), 4000);
    const char *name = new_name("mixed");
    fencepost_grant *grant;
    char path[2048];

    let_go(hold(client, name));
    snprintf(path, sizeof path, "/%s/0123__lock__0000001000", name);
    CHECK(zoo_create(raw, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0) == ZOK);
    grant = hold(client, name);
    NEED(fencepost_grant_mixed_layouts(grant) != NULL);
    CHECK(strcmp(fencepost_grant_mixed_layouts(grant), "0123__lock__0000001000") == 0);
    zoo_delete(raw, path, -1);
    let_go(grant);
    grant = hold(client, name);
    CHECK(fencepost_grant_mixed_layouts(grant) == NULL);
    let_go(grant);
    zookeeper_close(raw);
    close_client(client);
}

/* Checks the data of the node, byte by byte. */
static void nodes_say_who_holds(void) {
    static const struct {
        const char *layout, *part, *identifier, *end;
    } rows[] = {
        {"curator", "-lock-", "till 7", "till 7"},
        {"kazoo", "__lock__", "till 7", "till 7"},
        {"plain", "node_", "till 7", " till 7"},
    };
    fencepost_client *client = client_of(url(ZOOKEEPER, ""));
    zhandle_t *raw = zookeeper_open(address(ZOOKEEPER), 4000);
    char path[2048], data[2048];
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = new_name("says");
        fencepost_grant *grant =
            hold_with(client, name, FENCEPOST_OPTIONS(.layout = rows[i].layout, .identifier = rows[i].identifier));
        size_t length = strlen(rows[i].end);
        int size = sizeof data;

        CHECK(zookeeper_find(raw, url_of("/", name, ""), rows[i].part, path, sizeof path));
        CHECK(zoo_get(raw, path, 0, data, &size, NULL) == ZOK);
        CHECK(size >= (int)length && memcmp(data + size - length, rows[i].end, length) == 0);
        let_go(grant);
    }
    zookeeper_close(raw);
    close_client(client);
}

static void forbidden_directory(void) {
    fencepost_client *client = client_of(url(ZOOKEEPER, ""));
    zhandle_t *raw = zookeeper_open(address(ZOOKEEPER), 4000);
    const char *name = new_name("forbidden-kinds");
    const fencepost_options *const all[] = {
        READER,
        WRITER,
        KAZOO_READER,
        FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_ELECTION),
        FENCEPOST_OPTIONS(.layout = "plain"),
    };
    fencepost_grant *grant = NULL;
    char path[2048];
    size_t i;

    let_go(hold(client, new_name("makes-the-parent")));
    snprintf(path, sizeof path, "/%s", name);
    CHECK(zoo_create(raw, path, NULL, -1, &ZOO_READ_ACL_UNSAFE, 0, NULL, 0) == ZOK);
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        int64_t before = millis();
        CHECK_RESULT(fencepost_acquire_with(client, name, all[i], LONG, &grant), FENCEPOST_RESULT_NO_PERMISSION);
        CHECK(millis() - before < LONG);
    }
    CHECK(grant == NULL);
    zoo_delete(raw, path, -1);
    zookeeper_close(raw);
    close_client(client);
}

int main(void) {
    if (address(ZOOKEEPER) != NULL) {
        TEST(asked_for_the_lock);
        TEST(waits_for_a_wish_that_does_not_come);
        TEST(foreign_contenders_are_reported);
        TEST(nodes_say_who_holds);
        TEST(forbidden_directory);
    }
    return check_close();
}
