/* The effects of commands on the server, and the outcomes of libzookeeper's results. This program is linked with the
 * driver's objects, and records their reports to the hub. */
#include <poll.h>
#include <stdarg.h>
#include <unistd.h>

#include "../drivers/zookeeper/internal.h"
#include "support.h"

#include "idle.h"

/* The last outcomes and notices, as text. Protected by the client's mutex. */
static char seen[1024];

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...) {
    size_t used = strlen(seen);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(seen + used, sizeof seen - used, format, arguments);
    va_end(arguments);
}

fencepost_result __wrap_fencepost_hub_created(
    fencepost_hub *hub, uint64_t now, uint64_t id, int64_t session, const uint8_t *path, size_t size, int64_t czxid) {
    (void)hub, (void)now, (void)session;
    say("%" PRIu64 " created %.*s%s ", id, (int)size, (const char *)path, czxid > 0 ? "" : "?");
    return FENCEPOST_RESULT_OK;
}

fencepost_result __wrap_fencepost_hub_children(
    fencepost_hub *hub, uint64_t now, uint64_t id, int64_t session, const fencepost_view *names, size_t count) {
    size_t i;

    (void)hub, (void)now, (void)session;
    say("%" PRIu64 " children", id);
    for (i = 0; i < count; i++)
        say(" %.*s", (int)names[i].size, (const char *)names[i].data);
    say(" ");
    return FENCEPOST_RESULT_OK;
}

fencepost_result __wrap_fencepost_hub_data(
    fencepost_hub *hub, uint64_t now, uint64_t id, int64_t session, const uint8_t *data, size_t size, int64_t czxid,
    int64_t mzxid, int64_t owner, int32_t version, int64_t created, int64_t modified) {
    (void)hub, (void)now;
    say("%" PRIu64 " data %.*s v%d%s%s ", id, (int)size, (const char *)data, (int)version,
        owner == session ? " ours" : "",
        czxid > 0 && (mzxid > czxid) == (version > 0) && created > 1700000000000 && modified >= created ? "" : "?");
    return FENCEPOST_RESULT_OK;
}

fencepost_result __wrap_fencepost_hub_done(fencepost_hub *hub, uint64_t now, uint64_t id, int64_t session) {
    (void)hub, (void)now, (void)session;
    say("%" PRIu64 " done ", id);
    return FENCEPOST_RESULT_OK;
}

fencepost_result
__wrap_fencepost_hub_error(fencepost_hub *hub, uint64_t now, uint64_t id, int64_t session, int32_t code) {
    (void)hub, (void)now, (void)session;
    say("%" PRIu64 " error %d ", id, (int)code);
    return FENCEPOST_RESULT_OK;
}

fencepost_result __wrap_fencepost_hub_failed(fencepost_hub *hub, uint64_t now, uint64_t id, uint32_t failure) {
    (void)hub, (void)now;
    say("%" PRIu64 " %s ", id, fencepost_failure_name(failure));
    return FENCEPOST_RESULT_OK;
}

fencepost_result
__wrap_fencepost_hub_watch(fencepost_hub *hub, uint64_t now, uint64_t id, int64_t session, uint32_t event) {
    (void)hub, (void)now, (void)session;
    say("%" PRIu64 " saw %s ", id, fencepost_watch_event_name(event));
    return FENCEPOST_RESULT_OK;
}

/* ---- a driver on a raw handle ---- */

static struct driver driver;
static char root[256];

static void begin(void) {
    memset(&driver, 0, sizeof driver);
    driver.handle = zookeeper_open(address(ZOOKEEPER), 4000);
    driver.acl = &ZOO_OPEN_ACL_UNSAFE;
    driver.connected = true;
    driver.session = zoo_client_id(driver.handle)->client_id;
    snprintf(root, sizeof root, "/c-tests-%d", (int)getpid());
    CHECK(zoo_create(driver.handle, root, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0) == ZOK);
    driver.client = idle_client(&driver);
}

static void end(void) {
    struct String_vector left = {0, NULL};
    char path[1024];
    int i;

    zookeeper_close(driver.handle);
    writes_abandon(&driver, driver.handle);
    driver.handle = zookeeper_open(address(ZOOKEEPER), 4000);
    zoo_get_children(driver.handle, root, 0, &left);
    for (i = 0; i < left.count; i++) {
        snprintf(path, sizeof path, "%s/%s", root, left.data[i]);
        zoo_delete(driver.handle, path, -1);
    }
    deallocate_String_vector(&left);
    CHECK(zoo_delete(driver.handle, root, -1) == ZOK);
    zookeeper_close(driver.handle);
    while (driver.records != NULL)
        record_close(driver.records);
    records_free(&driver);
    fencepost_client_free(driver.client);
}

static fencepost_view view_of(const char *text) {
    fencepost_view view = {(const uint8_t *)text, 0};

    view.size = strlen(text);
    return view;
}

/* A path below the root, in one of a few buffers. */
static fencepost_view at(const char *name) {
    return view_of(url_of(root, "/", name));
}

static void send_of(uint64_t key, const fencepost_command *command) {
    fencepost_hub *hub = fencepost_client_enter(driver.client);

    request_send(&driver, hub, key, command);
    fencepost_client_leave(driver.client);
}

static void send_one(const fencepost_command *command) {
    send_of(1, command);
}

static void forget(uint64_t key) {
    fencepost_client_enter(driver.client);
    watches_forget(&driver, key);
    fencepost_client_leave(driver.client);
}

static size_t records(void) {
    const struct record *record;
    size_t count = 0;

    fencepost_client_enter(driver.client);
    for (record = driver.records; record != NULL; record = record->next)
        count++;
    fencepost_client_leave(driver.client);
    return count;
}

/* Whether the driver has reported exactly this. If so, clears the record. */
static bool received(const char *words) {
    bool same;

    fencepost_client_enter(driver.client);
    same = strcmp(seen, words) == 0;
    if (same)
        seen[0] = '\0';
    fencepost_client_leave(driver.client);
    return same;
}

/* Sends a command, and checks the reports for it. */
#define BRINGS(words, ...)                                                                                             \
    do {                                                                                                               \
        send_one(&(fencepost_command){__VA_ARGS__});                                                                   \
        EVENTUALLY(received(words));                                                                                   \
        if (seen[0] != '\0')                                                                                           \
            printf("    said: %s\n", seen);                                                                            \
        seen[0] = '\0';                                                                                                \
    } while (0)

static void nodes(void) {
    const char *created;

    begin();
    created = url_of("1 created ", root, "/one ");
    BRINGS(
        created, .id = 1, .operation = FENCEPOST_OPERATION_CREATE, .path = at("one"), .data = view_of("a"),
        .flags = FENCEPOST_FLAG_EPHEMERAL);
    BRINGS("2 data a v0 ours ", .id = 2, .operation = FENCEPOST_OPERATION_GET, .path = at("one"));
    BRINGS("3 done ", .id = 3, .operation = FENCEPOST_OPERATION_SET, .path = at("one"), .data = view_of("bb"));
    BRINGS("4 data bb v1 ours ", .id = 4, .operation = FENCEPOST_OPERATION_GET, .path = at("one"));
    BRINGS("5 error -101 ", .id = 5, .operation = FENCEPOST_OPERATION_SET, .path = at("none"));
    BRINGS(
        "6 error -110 ", .id = 6, .operation = FENCEPOST_OPERATION_CREATE, .path = at("one"),
        .flags = FENCEPOST_FLAG_EPHEMERAL);
    BRINGS("7 children one ", .id = 7, .operation = FENCEPOST_OPERATION_CHILDREN, .path = view_of(root));
    BRINGS("8 done ", .id = 8, .operation = FENCEPOST_OPERATION_DELETE, .path = at("one"));
    end();
}

static void watched_lists(void) {
    begin();
    BRINGS(
        "1 children ", .id = 1, .operation = FENCEPOST_OPERATION_CHILDREN, .path = view_of(root),
        .flags = FENCEPOST_FLAG_WATCH);
    CHECK(zoo_create(driver.handle, (const char *)at("one").data, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0) == ZOK);
    EVENTUALLY(received("1 saw changed "));
    /* A watch fires once. A read of a node that does not exist sets no watch. */
    BRINGS(
        "2 children ", .id = 2, .operation = FENCEPOST_OPERATION_CHILDREN, .path = at("one"),
        .flags = FENCEPOST_FLAG_WATCH);
    BRINGS(
        "3 error -101 ", .id = 3, .operation = FENCEPOST_OPERATION_CHILDREN, .path = at("two"),
        .flags = FENCEPOST_FLAG_WATCH);
    CHECK(zoo_create(driver.handle, (const char *)at("two").data, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0) == ZOK);
    CHECK(zoo_delete(driver.handle, (const char *)at("one").data, -1) == ZOK);
    EVENTUALLY(received("2 saw deleted "));
    BRINGS("4 done ", .id = 4, .operation = FENCEPOST_OPERATION_SYNC, .path = view_of(root));
    CHECK(driver.records == NULL);
    end();
}

/* One machine ends before the reply to its read, and another one after it. The third machine gets the watch's event. */
static void watches_go_with_their_machine(void) {
    fencepost_command command = {.operation = FENCEPOST_OPERATION_GET, .flags = FENCEPOST_FLAG_WATCH};
    uint64_t key;

    begin();
    CHECK(zoo_create(driver.handle, (const char *)at("one").data, "a", 1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0) == ZOK);
    command.path = at("one");
    for (key = 2; key <= 4; key++) {
        command.id = key;
        send_of(key, &command);
        if (key == 2)
            forget(key);
        EVENTUALLY(strstr(seen, "data a v0 ") != NULL);
        seen[0] = '\0';
    }
    CHECK(records() == 2);
    forget(3);
    CHECK(records() == 1);
    CHECK(zoo_set(driver.handle, (const char *)at("one").data, "b", 1, -1) == ZOK);
    EVENTUALLY(received("4 saw changed "));
    CHECK(records() == 0);
    end();
}

static void all_or_nothing(void) {
    static const fencepost_view nothing = {NULL, 0};
    fencepost_part numbered = {
        FENCEPOST_OPERATION_CREATE, FENCEPOST_FLAG_EPHEMERAL_SEQUENTIAL, nothing, view_of("x"), FENCEPOST_ANY_VERSION};
    fencepost_part plain = {
        FENCEPOST_OPERATION_CREATE, FENCEPOST_FLAG_EPHEMERAL, nothing, nothing, FENCEPOST_ANY_VERSION};
    fencepost_part container = {
        FENCEPOST_OPERATION_CREATE, FENCEPOST_FLAG_CONTAINER, nothing, nothing, FENCEPOST_ANY_VERSION};
    fencepost_part removal = {FENCEPOST_OPERATION_DELETE, 0, nothing, nothing, FENCEPOST_ANY_VERSION},
                   missing = removal;
    fencepost_part root = {FENCEPOST_OPERATION_CHECK, 0, view_of("/"), nothing, FENCEPOST_ANY_VERSION};

    begin();
    numbered.path = at("n-"), plain.path = removal.path = at("e"), container.path = at("c"), missing.path = at("none");
    BRINGS(
        "1 children n-0000000000 e n-0000000002 ", .id = 1, .operation = FENCEPOST_OPERATION_MULTI,
        .parts = (const fencepost_part *const[]){&numbered, &plain, &removal, &numbered}, .part_count = 4);
    BRINGS("2 data x v0 ours ", .id = 2, .operation = FENCEPOST_OPERATION_GET, .path = at("n-0000000000"));
    /* The second part fails: the server does not execute the first part either. */
    BRINGS(
        "3 error -101 ", .id = 3, .operation = FENCEPOST_OPERATION_MULTI,
        .parts = (const fencepost_part *const[]){&plain, &missing, &plain}, .part_count = 3);
    BRINGS("4 error -101 ", .id = 4, .operation = FENCEPOST_OPERATION_GET, .path = at("e"));
    BRINGS(
        "5 children e ", .id = 5, .operation = FENCEPOST_OPERATION_MULTI,
        .parts = (const fencepost_part *const[]){&plain}, .part_count = 1);
    BRINGS(
        "6 error -110 ", .id = 6, .operation = FENCEPOST_OPERATION_MULTI,
        .parts = (const fencepost_part *const[]){&plain}, .part_count = 1);
    BRINGS(
        "7 children ", .id = 7, .operation = FENCEPOST_OPERATION_MULTI,
        .parts = (const fencepost_part *const[]){&removal}, .part_count = 1);
    BRINGS(
        "8 error -6 ", .id = 8, .operation = FENCEPOST_OPERATION_MULTI,
        .parts = (const fencepost_part *const[]){&plain, &container}, .part_count = 2);
    BRINGS("9 error -101 ", .id = 9, .operation = FENCEPOST_OPERATION_GET, .path = at("e"));
    BRINGS(
        "10 children ", .id = 10, .operation = FENCEPOST_OPERATION_MULTI,
        .parts = (const fencepost_part *const[]){&root}, .part_count = 1);
    root.path = at("none");
    BRINGS(
        "11 error -101 ", .id = 11, .operation = FENCEPOST_OPERATION_MULTI,
        .parts = (const fencepost_part *const[]){&root}, .part_count = 1);
    CHECK(driver.records == NULL);
    end();
}

static void writes_that_are_never_answered(void) {
    fencepost_part part = {
        FENCEPOST_OPERATION_CREATE, FENCEPOST_FLAG_EPHEMERAL_SEQUENTIAL, {NULL, 0}, {NULL, 0}, FENCEPOST_ANY_VERSION};
    uint64_t i;

    begin();
    part.path = at("n-");
    fencepost_client_enter(driver.client);
    for (i = 1; i <= 50; i++) {
        fencepost_command command = {
            .id = i,
            .operation = FENCEPOST_OPERATION_MULTI,
            .parts = (const fencepost_part *const[]){&part},
            .part_count = 1};
        request_send(&driver, NULL, 1, &command);
    }
    seen[0] = '\0';
    requests_settle(&driver, NULL);
    CHECK(strncmp(seen, "1 unknown ", 10) == 0 || strstr(seen, " 1 unknown ") != NULL);
    seen[0] = '\0';
    fencepost_client_leave(driver.client);
    end();
    CHECK(seen[0] == '\0');
}

int main(void) {
    if (address(ZOOKEEPER) != NULL) {
        TEST(nodes);
        TEST(watched_lists);
        TEST(watches_go_with_their_machine);
        TEST(all_or_nothing);
        TEST(writes_that_are_never_answered);
    }
    return check_close();
}
