/* The raw hub: bad input, replies of the wrong shape, and a hub on memory. */
#include "check.h"

static const uint8_t contender[17] = "sixteen random b";

static fencepost_settings *settings_of(const char *json) {
    fencepost_settings *settings = NULL;

    CHECK_RESULT(fencepost_settings_parse((const uint8_t *)json, strlen(json), &settings), FENCEPOST_OK);
    return settings;
}

/* A hub with a contender that has begun to acquire. `id` gets the id of its first command. */
static fencepost_hub *begun(uint32_t family, const char *json, uint64_t *id) {
    fencepost_settings *settings = settings_of(json);
    fencepost_output output = {.size = sizeof output};
    fencepost_hub *hub = NULL;
    uint64_t key;

    CHECK_RESULT(fencepost_hub_new(family, 1, &hub), FENCEPOST_OK);
    if (family == FENCEPOST_FAMILY_ZOOKEEPER)
        CHECK_RESULT(fencepost_hub_session(hub, 1, FENCEPOST_SESSION_STATE_CONNECTED, 7, 9000000), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_open(hub, 1, settings, contender, 1, &key), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_acquire(hub, 1, key, FENCEPOST_FOREVER), FENCEPOST_OK);
    fencepost_settings_free(settings);
    CHECK_RESULT(fencepost_hub_poll_output(hub, FENCEPOST_ALL, &output), FENCEPOST_OK);
    CHECK(output.kind == FENCEPOST_OUTPUT_KIND_COMMAND);
    *id = output.command->id;
    return hub;
}

static void settings_are_checked(void) {
    static const struct {
        const char *json;
        int expected;
        const char *words;
    } rows[] = {
        {"", FENCEPOST_RESULT_UNREADABLE_SETTINGS, "EOF"},
        {"[]", FENCEPOST_RESULT_UNREADABLE_SETTINGS, ""},
        {"{\"kind\": \"semaphor\", \"name\": \"x\"}", FENCEPOST_RESULT_UNREADABLE_SETTINGS, "semaphor"},
        {"{\"kind\": \"redis-string\"}", FENCEPOST_RESULT_EMPTY_NAME, "name"},
        {"{\"kind\": \"redis-string\", \"name\": \"\"}", FENCEPOST_RESULT_EMPTY_NAME, ""},
        {"{\"kind\": \"redis-string\", \"name\": \"x\", \"tll\": 1}", FENCEPOST_RESULT_UNKNOWN_OPTION, "\"tll\""},
        {"{\"kind\": \"redis-string\", \"name\": \"x\", \"ttl\": 0}", FENCEPOST_RESULT_NOT_POSITIVE, "ttl"},
        {"{\"kind\": \"redis-string\", \"name\": \"x\", \"ttl\": 4000}", FENCEPOST_RESULT_LEASE_TOO_SHORT, "of 4 ms"},
        {"{\"kind\": \"zookeeper-mutex\", \"name\": \"a\\u0000b\"}", FENCEPOST_RESULT_INVALID_NAME, "NUL"},
        {"{\"kind\": \"zookeeper-mutex\", \"name\": \"a//b\"}", FENCEPOST_RESULT_INVALID_NAME, "slash"},
        {"\xff", FENCEPOST_RESULT_UNREADABLE_SETTINGS, ""},
    };
    fencepost_settings *settings = NULL;
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_FAULT(
            fencepost_settings_parse((const uint8_t *)rows[i].json, strlen(rows[i].json), &settings), rows[i].expected,
            rows[i].words);
    CHECK(settings == NULL);
    CHECK_RESULT(fencepost_settings_parse(NULL, 3, &settings), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_settings_parse((const uint8_t *)"{}", 2, NULL), FENCEPOST_RESULT_NULL_POINTER);
    settings = settings_of("{\"kind\": \"redis-string\", \"name\": \"x\"}");
    CHECK(fencepost_settings_family(settings) == FENCEPOST_FAMILY_REDIS);
    CHECK_RESULT(fencepost_settings_set_micros(settings, (const uint8_t *)"ttl", 3, -1), FENCEPOST_RESULT_NOT_POSITIVE);
    CHECK_RESULT(
        fencepost_settings_set_micros(settings, (const uint8_t *)"prefix", 6, 1), FENCEPOST_RESULT_UNKNOWN_OPTION);
    CHECK_RESULT(fencepost_settings_set_micros(settings, (const uint8_t *)"ttl", 3, 5000000), FENCEPOST_OK);
    fencepost_settings_free(settings);
    fencepost_settings_free(NULL);
}

static void nothing_at_all(void) {
    fencepost_settings *settings = settings_of("{\"kind\": \"redis-string\", \"name\": \"x\"}");
    fencepost_output output = {.size = sizeof output};
    fencepost_hub *hub = NULL;
    uint64_t key;

    CHECK_FAULT(fencepost_hub_new(9, 1, &hub), FENCEPOST_RESULT_BAD_ARGUMENT, "9");
    CHECK_RESULT(fencepost_hub_new(FENCEPOST_FAMILY_REDIS, 1, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_hub_open(NULL, 1, settings, contender, 1, &key), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_hub_poll_output(NULL, 0, &output), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_hub_acquire(NULL, 1, 1, 1), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_hub_release(NULL, 1, 1), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_hub_reply(NULL, 1, 1, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_hub_done(NULL, 1, 1, 1), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_hub_session(NULL, 1, 1, 1, 1), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_hub_handle_timeout(NULL, 1), FENCEPOST_RESULT_NULL_POINTER);
    CHECK(fencepost_hub_pending(NULL) == 0 && fencepost_hub_id(NULL) == 0);
    CHECK_RESULT(fencepost_hub_new(FENCEPOST_FAMILY_REDIS, 1, &hub), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_open(hub, 1, settings, NULL, 1, &key), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_hub_open(hub, 1, NULL, contender, 1, &key), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_hub_open(hub, 1, settings, contender, 1, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_hub_poll_output(hub, 0, NULL), FENCEPOST_RESULT_NULL_POINTER);
    fencepost_hub_free(hub);
    fencepost_hub_free(NULL);
    fencepost_settings_free(settings);
}

static void misuse(void) {
    fencepost_settings *settings = settings_of("{\"kind\": \"redis-string\", \"name\": \"x\"}");
    fencepost_hub *hub = NULL, *other = NULL;
    uint64_t key;

    CHECK_RESULT(fencepost_hub_new(FENCEPOST_FAMILY_REDIS, 1, &hub), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_new(FENCEPOST_FAMILY_ZOOKEEPER, 1, &other), FENCEPOST_OK);
    CHECK_FAULT(fencepost_hub_open(other, 1, settings, contender, 1, &key), FENCEPOST_RESULT_WRONG_FAMILY, "zookeeper");
    CHECK_RESULT(fencepost_hub_open(hub, 1, settings, contender, 1, &key), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_release(hub, 1, key), FENCEPOST_RESULT_NOT_HELD);
    CHECK_RESULT(fencepost_hub_cancel(hub, 1, key), FENCEPOST_RESULT_NOT_WAITING);
    CHECK_RESULT(fencepost_hub_extend(hub, 1, key + 1), FENCEPOST_RESULT_UNKNOWN_KEY);
    CHECK_FAULT(fencepost_hub_acquire(hub, 1, key, 0), FENCEPOST_RESULT_NOT_POSITIVE, "try");
    CHECK_RESULT(fencepost_hub_acquire(hub, 1, key, 1000), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_try_acquire(hub, 1, key), FENCEPOST_RESULT_BUSY);
    CHECK_RESULT(fencepost_hub_session(hub, 1, FENCEPOST_SESSION_STATE_CONNECTED, 1, 1), FENCEPOST_RESULT_WRONG_FAMILY);
    CHECK_RESULT(fencepost_hub_session(other, 1, 99, 1, 1), FENCEPOST_RESULT_BAD_ARGUMENT);
    CHECK_RESULT(fencepost_hub_watch(other, 1, 1, 1, 0), FENCEPOST_RESULT_BAD_ARGUMENT);
    CHECK_RESULT(fencepost_hub_shutdown(hub, 1), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_open(hub, 1, settings, contender, 1, &key), FENCEPOST_RESULT_CLIENT_CLOSED);
    fencepost_hub_free(hub);
    fencepost_hub_free(other);
    fencepost_settings_free(settings);
}

static void replies_of_the_wrong_shape(void) {
    fencepost_reply reply = {FENCEPOST_REPLY_KIND_ARRAY, 0, {NULL, 0}, NULL, 0}, nested[20];
    fencepost_view name = {(const uint8_t *)"x", 1};
    fencepost_hub *hub;
    uint64_t id;
    int i;

    hub = begun(FENCEPOST_FAMILY_REDIS, "{\"kind\": \"redis-string\", \"name\": \"x\"}", &id);
    CHECK_RESULT(fencepost_hub_reply(hub, 1, id + 50, &reply), FENCEPOST_RESULT_UNKNOWN_COMMAND);
    reply.item_count = 1; /* but no items */
    CHECK_RESULT(fencepost_hub_reply(hub, 1, id, &reply), FENCEPOST_RESULT_NULL_POINTER);
    reply.item_count = 0;
    reply.kind = 77;
    CHECK_FAULT(fencepost_hub_reply(hub, 1, id, &reply), FENCEPOST_RESULT_BAD_ARGUMENT, "77");
    for (i = 0; i < 20; i++) {
        nested[i].kind = FENCEPOST_REPLY_KIND_ARRAY;
        nested[i].items = &nested[i + 1 < 20 ? i + 1 : 19];
        nested[i].item_count = 1; /* the last one contains itself */
    }
    CHECK_FAULT(fencepost_hub_reply(hub, 1, id, nested), FENCEPOST_RESULT_BAD_ARGUMENT, "deep");
    CHECK_RESULT(fencepost_hub_failed(hub, 1, id, 0), FENCEPOST_RESULT_BAD_ARGUMENT);
    CHECK_RESULT(fencepost_hub_done(hub, 1, id, 1), FENCEPOST_RESULT_WRONG_FAMILY);
    reply.kind = FENCEPOST_REPLY_KIND_INTEGER;
    CHECK_FAULT(fencepost_hub_reply(hub, 1, id, &reply), FENCEPOST_RESULT_WRONG_REPLY, "unknown");
    CHECK_RESULT(fencepost_hub_reply(hub, 1, id, &reply), FENCEPOST_OK); /* a repeated reply */
    fencepost_hub_free(hub);

    hub = begun(FENCEPOST_FAMILY_ZOOKEEPER, "{\"kind\": \"zookeeper-mutex\", \"name\": \"x\"}", &id);
    CHECK_RESULT(fencepost_hub_children(hub, 1, id, 7, NULL, 2), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_hub_created(hub, 1, id, 7, (const uint8_t *)"\xff", 1, 1), FENCEPOST_RESULT_BAD_ARGUMENT);
    CHECK_RESULT(fencepost_hub_children(hub, 1, id, 7, &name, 1), FENCEPOST_RESULT_WRONG_REPLY);
    fencepost_hub_free(hub);
}

static void memory_needs_no_driver(void) {
    fencepost_settings *settings = settings_of("{\"kind\": \"zookeeper-mutex\", \"name\": \"x\"}");
    fencepost_output output = {.size = sizeof output};
    fencepost_memory *memory;
    fencepost_hub *first, *second;
    uint64_t one, two, woken[4] = {0}, fence;

    CHECK_RESULT(fencepost_memory_new(&memory), FENCEPOST_OK);
    CHECK_RESULT(fencepost_memory_hub(memory, 1, 1, 0, &first), FENCEPOST_OK);
    CHECK_RESULT(fencepost_memory_hub(memory, 1, 2, 0, &second), FENCEPOST_OK);
    CHECK_RESULT(fencepost_memory_hub(NULL, 1, 2, 0, &second), FENCEPOST_RESULT_NULL_POINTER);
    CHECK(fencepost_hub_id(first) != fencepost_hub_id(second));
    CHECK_RESULT(fencepost_hub_open(first, 1, settings, contender, 1, &one), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_open(second, 1, settings, contender + 1, 1, &two), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_acquire(first, 1, one, FENCEPOST_FOREVER), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_poll_output(first, FENCEPOST_ALL, &output), FENCEPOST_OK);
    CHECK(output.kind == FENCEPOST_OUTPUT_KIND_EVENT && output.event->kind == FENCEPOST_EVENT_KIND_ACQUIRED);
    CHECK(output.key == one && output.event->has_fence && memcmp(output.event->contender, contender, 16) == 0);
    fence = output.event->fence;
    CHECK_RESULT(fencepost_hub_acquire(second, 1, two, FENCEPOST_FOREVER), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_poll_output(second, FENCEPOST_ALL, &output), FENCEPOST_OK);
    CHECK(output.event->kind == FENCEPOST_EVENT_KIND_QUEUED && output.event->has_ahead && output.event->ahead == 1);
    CHECK_RESULT(fencepost_hub_poll_output(second, FENCEPOST_ALL, &output), FENCEPOST_OK);
    CHECK(output.kind == FENCEPOST_OUTPUT_KIND_WAIT);
    CHECK_RESULT(fencepost_hub_release(first, 1, one), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_poll_output(first, FENCEPOST_ALL, &output), FENCEPOST_OK);
    CHECK(output.event->kind == FENCEPOST_EVENT_KIND_RELEASED);
    CHECK(fencepost_memory_take_woken(memory, woken, 4) == 1 && woken[0] == fencepost_hub_id(second));
    CHECK_RESULT(fencepost_hub_handle_timeout(second, 2), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_poll_output(second, FENCEPOST_ALL, &output), FENCEPOST_OK);
    CHECK(output.event->kind == FENCEPOST_EVENT_KIND_ACQUIRED && output.event->fence > fence);
    CHECK_FAULT(fencepost_hub_done(second, 2, 1, 1), FENCEPOST_RESULT_BAD_ARGUMENT, "no driver");
    fencepost_settings_free(settings);
    fencepost_hub_free(first);
    fencepost_memory_free(memory); /* before its last hub */
    fencepost_hub_free(second);
}

/* Two acquires of an owner share a machine, which is unused after both are closed. */
static void a_close_returns_the_machine_that_is_not_used(void) {
    fencepost_settings *settings = settings_of("{\"kind\": \"zookeeper-mutex\", \"name\": \"x\", \"owner\": \"anna\"}");
    fencepost_output output = {.size = sizeof output};
    fencepost_memory *memory;
    fencepost_hub *hub;
    uint64_t first, second, unused = 99;

    CHECK_RESULT(fencepost_memory_new(&memory), FENCEPOST_OK);
    CHECK_RESULT(fencepost_memory_hub(memory, 1, 1, 0, &hub), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_open(hub, 1, settings, contender, 1, &first), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_open(hub, 1, settings, contender + 1, 1, &second), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_acquire(hub, 1, first, FENCEPOST_FOREVER), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_poll_output(hub, FENCEPOST_ALL, &output), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_acquire(hub, 1, second, FENCEPOST_FOREVER), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_close(hub, 1, first, &unused), FENCEPOST_OK);
    CHECK(unused == 0 && fencepost_hub_serves(hub, first));
    CHECK_RESULT(fencepost_hub_close(hub, 1, second, &unused), FENCEPOST_OK);
    CHECK(unused == first && !fencepost_hub_serves(hub, first) && !fencepost_hub_serves(hub, second));
    CHECK_RESULT(fencepost_hub_close(hub, 1, second, &unused), FENCEPOST_OK);
    CHECK(unused == 0);
    CHECK_RESULT(fencepost_hub_open(hub, 1, settings, contender, 1, &first), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_close(hub, 1, first, NULL), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_close(NULL, 1, first, &unused), FENCEPOST_RESULT_NULL_POINTER);
    CHECK(!fencepost_hub_serves(hub, first) && !fencepost_hub_serves(NULL, first));
    fencepost_settings_free(settings);
    fencepost_hub_free(hub);
    fencepost_memory_free(memory);
}

/* The caller's structures have the size of the caller's version of the header, which may be earlier or later. */
static void structures_have_the_callers_size(void) {
    struct {
        fencepost_output output;
        uint8_t behind[16];
    } later;
    fencepost_output output = {.kind = FENCEPOST_OUTPUT_KIND_EVENT};
    fencepost_address_parts parts = {.size = sizeof parts - 1};
    fencepost_address *address;
    fencepost_hub *hub = NULL;
    uint64_t id;

    hub = begun(FENCEPOST_FAMILY_REDIS, "{\"kind\": \"redis-string\", \"name\": \"x\"}", &id);
    CHECK_FAULT(
        fencepost_hub_poll_output(hub, FENCEPOST_ALL, &output), FENCEPOST_RESULT_BAD_ARGUMENT,
        "size in fencepost_output is 0: set it to sizeof(fencepost_output)");
    CHECK(output.kind == FENCEPOST_OUTPUT_KIND_EVENT && output.wait == NULL);
    memset(&later, 0x55, sizeof later);
    later.output.size = sizeof later;
    CHECK_RESULT(fencepost_hub_poll_output(hub, FENCEPOST_ALL, &later.output), FENCEPOST_OK);
    CHECK(later.output.size == sizeof later && later.output.kind == FENCEPOST_OUTPUT_KIND_WAIT);
    CHECK(later.output.wait != NULL && later.output.command == NULL && later.output.event == NULL);
    CHECK(later.behind[0] == 0x55 && later.behind[15] == 0x55);
    fencepost_hub_free(hub);
    CHECK_RESULT(fencepost_address_parse((const uint8_t *)"memory:x", 8, &address), FENCEPOST_OK);
    CHECK_FAULT(fencepost_address_read(address, &parts), FENCEPOST_RESULT_BAD_ARGUMENT, "fencepost_address_parts");
    parts.size++;
    CHECK_RESULT(fencepost_address_read(address, &parts), FENCEPOST_OK);
    CHECK(parts.scheme == FENCEPOST_SCHEME_MEMORY && parts.name.size == 1 && parts.size == sizeof parts);
    fencepost_address_free(address);
}

static void version_is_told(void) {
    char name[32];

    CHECK(fencepost_version() == FENCEPOST_VERSION);
    snprintf(
        name, sizeof name, "%d.%d.%d", FENCEPOST_VERSION / 10000, FENCEPOST_VERSION / 100 % 100,
        FENCEPOST_VERSION % 100);
    CHECK(strcmp(fencepost_version_name(), name) == 0);
}

static void names_of_everything(void) {
    int code, named = 0;

    for (code = -1; code < 700; code++)
        named += strcmp(fencepost_result_name(code), "unknown-result") != 0 && *fencepost_result_text(code) != '\0';
    CHECK(named == 66);
    CHECK(strcmp(fencepost_result_name(-1), "unknown-result") == 0 && strlen(fencepost_result_text(-1)) > 0);
    CHECK(strcmp(fencepost_result_name(FENCEPOST_RESULT_MIXED_LAYOUTS), "mixed-layouts") == 0);
    CHECK(strcmp(fencepost_operation_name(FENCEPOST_OPERATION_SYNC), "sync") == 0);
    CHECK(fencepost_operation_name(0) == NULL && fencepost_timer_name(99) == NULL);
    fencepost_set_detail((const uint8_t *)"a\0b", 3);
    CHECK(strncmp(fencepost_detail(), "a", 1) == 0 && strlen(fencepost_detail()) > 2);
}

static void a_replicas_answer_is_known(void) {
    static const char *const replica[] = {
        "READONLY You can't write against a read only replica.",
        "ERR Error running script (call to f_1234): @user_script:1: @user_script: 1: -READONLY You can't write.",
    };
    static const char loading[] = "LOADING Redis is loading the dataset in memory";
    size_t i;

    for (i = 0; i < sizeof replica / sizeof *replica; i++)
        CHECK(fencepost_is_from_replica((const uint8_t *)replica[i], strlen(replica[i])));
    CHECK(!fencepost_is_from_replica((const uint8_t *)loading, strlen(loading)));
    CHECK(!fencepost_is_from_replica(NULL, 0) && !fencepost_is_from_replica(NULL, 8));
}

int main(void) {
    TEST(settings_are_checked);
    TEST(nothing_at_all);
    TEST(misuse);
    TEST(replies_of_the_wrong_shape);
    TEST(memory_needs_no_driver);
    TEST(a_close_returns_the_machine_that_is_not_used);
    TEST(names_of_everything);
    TEST(structures_have_the_callers_size);
    TEST(version_is_told);
    TEST(a_replicas_answer_is_known);
    return check_close();
}
