/* Several writes with versions and data, and the server's errors for each write that fails, with both ZooKeeper
 * libraries. This program is linked with the driver's objects, and records their reports to the hub. */
#include <poll.h>
#include <unistd.h>

#ifdef WITHOUT_THREADS
#include "../drivers/zookeeper/st/connection.h"
#else
#include "../drivers/zookeeper/internal.h"
#endif
#include "check.h"

#include "idle.h"

/* Almost the maximum that a server accepts in one packet. */
#define MUCH 1000000u
/* The limit for a reply, in microseconds: a test that waits longer fails. */
#define LONG 20000000u

/* The last outcome, as text. Protected by the client's mutex. */
static char seen[128];
/* The expected data of a read. */
static uint8_t content[MUCH];
static size_t content_size;

fencepost_result __wrap_fencepost_hub_created(
    fencepost_hub *hub, uint64_t now, uint64_t id, int64_t session, const uint8_t *path, size_t size, int64_t czxid) {
    (void)hub, (void)now, (void)id, (void)session, (void)path, (void)size, (void)czxid;
    strcpy(seen, "created");
    return FENCEPOST_RESULT_OK;
}

fencepost_result __wrap_fencepost_hub_children(
    fencepost_hub *hub, uint64_t now, uint64_t id, int64_t session, const fencepost_view *names, size_t count) {
    (void)hub, (void)now, (void)id, (void)session, (void)names;
    snprintf(seen, sizeof seen, "%d children", (int)count);
    return FENCEPOST_RESULT_OK;
}

fencepost_result __wrap_fencepost_hub_data(
    fencepost_hub *hub, uint64_t now, uint64_t id, int64_t session, const uint8_t *data, size_t size, int64_t czxid,
    int64_t mzxid, int64_t owner, int32_t version, int64_t created, int64_t modified) {
    bool same = size == content_size && memcmp(data, content, size) == 0;
    bool sound = (mzxid > czxid) == (version > 0) && created > 1700000000000 && modified >= created;

    (void)hub, (void)now, (void)id, (void)session, (void)owner;
    snprintf(seen, sizeof seen, "%s v%d%s", same ? "content" : "other data", (int)version, sound ? "" : "?");
    return FENCEPOST_RESULT_OK;
}

fencepost_result __wrap_fencepost_hub_done(fencepost_hub *hub, uint64_t now, uint64_t id, int64_t session) {
    (void)hub, (void)now, (void)id, (void)session;
    strcpy(seen, "done");
    return FENCEPOST_RESULT_OK;
}

fencepost_result
__wrap_fencepost_hub_error(fencepost_hub *hub, uint64_t now, uint64_t id, int64_t session, int32_t code) {
    (void)hub, (void)now, (void)id, (void)session;
    snprintf(seen, sizeof seen, "error %d", (int)code);
    return FENCEPOST_RESULT_OK;
}

fencepost_result __wrap_fencepost_hub_failed(fencepost_hub *hub, uint64_t now, uint64_t id, uint32_t failure) {
    (void)hub, (void)now, (void)id;
    strcpy(seen, fencepost_failure_name(failure));
    return FENCEPOST_RESULT_OK;
}

/* ---- a driver on a raw handle ---- */

static struct driver driver;
#ifdef WITHOUT_THREADS
static struct connection connection;
#endif
static char here[64], none[64], root[32];

/* Runs the library for one turn. */
static void turn(void) {
#ifdef WITHOUT_THREADS
    struct timeval left = {0, 0};
    struct pollfd source = {-1, 0, 0};
    int interest = 0, events;

    connection.hub = fencepost_client_enter(driver.client);
    zookeeper_interest(driver.handle, &source.fd, &interest, &left);
    source.events = (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) | (interest & ZOOKEEPER_WRITE ? POLLOUT : 0));
    poll(&source, 1, 2);
    events = (source.revents & ~POLLOUT ? ZOOKEEPER_READ : 0) | (source.revents & POLLOUT ? ZOOKEEPER_WRITE : 0);
    while (zookeeper_process(driver.handle, events) == ZOK)
        events = ZOOKEEPER_READ;
    connection.hub = NULL;
    fencepost_client_leave(driver.client);
#else
    poll(NULL, 0, 2);
#endif
}

static bool received(char *words) {
    fencepost_client_enter(driver.client);
    strcpy(words, seen);
    fencepost_client_leave(driver.client);
    return words[0] != '\0';
}

/* Carries out a command, and returns its outcome. */
static const char *ask(const fencepost_command *command) {
    static char words[sizeof seen];
    uint64_t end = fencepost_now() + LONG;
    fencepost_hub *hub = fencepost_client_enter(driver.client);

    seen[0] = '\0';
#ifdef WITHOUT_THREADS
    connection.hub = hub;
#endif
    request_send(&driver, hub, 1, command);
    fencepost_client_leave(driver.client);
    while (!received(words) && fencepost_now() < end)
        turn();
    return words;
}

static void brings(const char *words, const char *expected, const char *what, int line) {
    if (!check(strcmp(words, expected) == 0, what, __FILE__, line))
        printf("    said: %s, expected: %s\n", words, expected);
}

/* Checks the outcome of a command. */
#define BRINGS(words, ...) brings(ask(&(fencepost_command){.id = 1, __VA_ARGS__}), words, #__VA_ARGS__, __LINE__)
#define WRITES(words, list, count)                                                                                     \
    BRINGS(words, .operation = FENCEPOST_OPERATION_MULTI, .parts = list, .part_count = count)

static fencepost_view view_of(const char *text) {
    return (fencepost_view){(const uint8_t *)text, strlen(text)};
}

static fencepost_part part(fencepost_operation operation, const char *path, int32_t version) {
    return (fencepost_part){operation, 0, view_of(path), {NULL, 0}, version};
}

static void begin(void) {
    uint64_t end = fencepost_now() + LONG;

    memset(&driver, 0, sizeof driver);
    driver.client = idle_client(&driver);
    driver.handle = zookeeper_init(getenv("FENCEPOST_ZOOKEEPER"), NULL, 4000, NULL, NULL, 0);
    driver.acl = &ZOO_OPEN_ACL_UNSAFE;
#ifdef WITHOUT_THREADS
    driver.connection = &connection;
#endif
    while (zoo_state(driver.handle) != ZOO_CONNECTED_STATE && fencepost_now() < end)
        turn();
    driver.connected = true;
    driver.session = zoo_client_id(driver.handle)->client_id;
    BRINGS("created", .operation = FENCEPOST_OPERATION_CREATE, .path = view_of(root));
    BRINGS("created", .operation = FENCEPOST_OPERATION_CREATE, .path = view_of(here));
}

static void end(void) {
    BRINGS("done", .operation = FENCEPOST_OPERATION_DELETE, .path = view_of(here));
    BRINGS("done", .operation = FENCEPOST_OPERATION_DELETE, .path = view_of(root));
    CHECK(driver.records == NULL);
    zookeeper_close(driver.handle);
    records_free(&driver);
    fencepost_client_free(driver.client);
}

/* ---- tests ---- */

/* The error is that of the first write that fails, at any position, and the server executes no write. */
static void the_first_that_fails(void) {
    const struct {
        fencepost_part write;
        const char *error;
    } rows[] = {
        {part(FENCEPOST_OPERATION_SET, here, 7), "error -103"},
        {part(FENCEPOST_OPERATION_DELETE, here, 7), "error -103"},
        {part(FENCEPOST_OPERATION_CHECK, here, 7), "error -103"},
        {part(FENCEPOST_OPERATION_DELETE, root, FENCEPOST_ANY_VERSION), "error -111"},
        {part(FENCEPOST_OPERATION_CREATE, here, FENCEPOST_ANY_VERSION), "error -110"},
        {part(FENCEPOST_OPERATION_SET, none, FENCEPOST_ANY_VERSION), "error -101"},
        {part(FENCEPOST_OPERATION_DELETE, none, 0), "error -101"},
        {part(FENCEPOST_OPERATION_CHECK, none, FENCEPOST_ANY_VERSION), "error -101"},
    };
    size_t count = sizeof rows / sizeof *rows, row, at;
    fencepost_part check, another, set;

    begin();
    check = part(FENCEPOST_OPERATION_CHECK, here, 0);
    another = part(FENCEPOST_OPERATION_CHECK, root, 0);
    set = part(FENCEPOST_OPERATION_SET, root, 0);
    for (row = 0; row < count; row++) {
        for (at = 0; at < 3; at++) {
            const fencepost_part *writes[] = {&check, &another, &set, &rows[(row + 3) % count].write};

            writes[at] = &rows[row].write;
            WRITES(rows[row].error, writes, 4);
        }
    }
    content_size = 0;
    BRINGS("content v0", .operation = FENCEPOST_OPERATION_GET, .path = view_of(root));
    BRINGS("content v0", .operation = FENCEPOST_OPERATION_GET, .path = view_of(here));
    end();
}

static void any_data(void) {
    fencepost_part check, create, set, removal;
    const fencepost_part *writes[] = {&set, &check, &create, &removal};
    size_t i;

    begin();
    for (i = 0; i < sizeof content; i++)
        content[i] = (uint8_t)i;
    content_size = 256;
    set = part(FENCEPOST_OPERATION_SET, here, 0);
    set.data = (fencepost_view){content, content_size};
    check = part(FENCEPOST_OPERATION_CHECK, here, 1);
    create = part(FENCEPOST_OPERATION_CREATE, none, FENCEPOST_ANY_VERSION);
    removal = part(FENCEPOST_OPERATION_DELETE, none, 0);
    WRITES("1 children", writes, 4);
    BRINGS("content v1", .operation = FENCEPOST_OPERATION_GET, .path = view_of(here));
    content_size = set.data.size = MUCH;
    WRITES("error -103", writes, 4);
    set.version = 1;
    WRITES("0 children", writes, 1);
    BRINGS("content v2", .operation = FENCEPOST_OPERATION_GET, .path = view_of(here));
    set.version = FENCEPOST_ANY_VERSION;
    content_size = set.data.size = 0;
    WRITES("0 children", writes, 1);
    BRINGS("content v3", .operation = FENCEPOST_OPERATION_GET, .path = view_of(here));
    end();
}

int main(void) {
    zoo_set_debug_level((ZooLogLevel)0);
    snprintf(root, sizeof root, "/c-writes-%d", (int)getpid());
    snprintf(here, sizeof here, "%s/here", root);
    snprintf(none, sizeof none, "%s/none", root);
    if (getenv("FENCEPOST_ZOOKEEPER") != NULL) {
        TEST(the_first_that_fails);
        TEST(any_data);
    }
    return check_close();
}
