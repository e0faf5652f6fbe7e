/* The table of settings that all languages read, and the structure of options for it. The tests need no server. */
#include <cjson/cJSON.h>
#include <stddef.h>

#include "support.h"

#ifndef TABLE
#error "TABLE is the path of tests/options.json"
#endif

#define MOST 24
#define MOST_TEXTS 16

static cJSON *read_table(void) {
    static char text[65536];
    FILE *file = fopen(TABLE, "rb");
    size_t size = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);

    if (file != NULL)
        fclose(file);
    text[size] = '\0';
    return cJSON_Parse(text);
}

static const char *string(const cJSON *row, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(row, key);

    return cJSON_IsString(value) ? value->valuestring : NULL;
}

static fencepost_view view_of(const char *text) {
    fencepost_view view = {(const uint8_t *)text, strlen(text)};

    return view;
}

/* A row's settings: its options, its server and its kind. */
static cJSON *settings_of(const cJSON *row) {
    cJSON *settings = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(row, "options"), true);

    cJSON_AddStringToObject(settings, "server", string(row, "server"));
    cJSON_AddStringToObject(settings, "kind", string(row, "kind"));
    return settings;
}

static fencepost_result as_text(const cJSON *from, fencepost_settings **settings) {
    char *text = cJSON_PrintUnformatted(from);
    fencepost_result result = fencepost_settings_parse((const uint8_t *)text, strlen(text), settings);

    free(text);
    return result;
}

static fencepost_result as_values(const cJSON *from, fencepost_settings **settings) {
    fencepost_setting given[MOST];
    fencepost_view texts[MOST_TEXTS];
    size_t count = 0;
    const cJSON *value, *text;

    memset(given, 0, sizeof given);
    cJSON_ArrayForEach(value, from) {
        fencepost_setting *setting = &given[count++];

        setting->key = view_of(value->string);
        if (cJSON_IsString(value)) {
            setting->value = FENCEPOST_VALUE_KIND_TEXT;
            setting->text = view_of(value->valuestring);
        } else if (cJSON_IsNumber(value)) {
            setting->value = FENCEPOST_VALUE_KIND_NUMBER;
            setting->number = (int64_t)value->valuedouble;
        } else if (cJSON_IsBool(value)) {
            setting->value = FENCEPOST_VALUE_KIND_SWITCH;
            setting->number = cJSON_IsTrue(value);
        } else {
            setting->value = FENCEPOST_VALUE_KIND_TEXTS;
            setting->texts = texts;
            cJSON_ArrayForEach(text, value) texts[setting->text_count++] = view_of(text->valuestring);
        }
    }
    return fencepost_settings_of(given, count, settings);
}

typedef fencepost_result reading(const cJSON *from, fencepost_settings **settings);

static void row_is_as_it_says(const cJSON *row, reading *read) {
    cJSON *from = settings_of(row);
    const char *error = string(row, "error");
    bool is_redis = strcmp(string(row, "server"), "redis") == 0;
    fencepost_settings *settings = NULL;
    fencepost_result result = read(from, &settings);
    bool good;

    if (error == NULL)
        good =
            CHECK_RESULT(result, FENCEPOST_OK) && CHECK(
                                                      fencepost_settings_family(settings) ==
                                                      (is_redis ? FENCEPOST_FAMILY_REDIS : FENCEPOST_FAMILY_ZOOKEEPER));
    else
        good = CHECK(strcmp(fencepost_result_name((int)result), error) == 0) &&
               CHECK(strstr(fencepost_detail(), string(row, "says")) != NULL) && CHECK(settings == NULL);
    if (!good) {
        char *text = cJSON_PrintUnformatted(from);

        printf("    %s: %s\n", text, fencepost_detail());
        free(text);
    }
    fencepost_settings_free(settings);
    cJSON_Delete(from);
}

static void settings_are_read_as_the_table_says(void) {
    cJSON *rows = read_table();
    const cJSON *row;

    NEED(cJSON_GetArraySize(rows) > 50);
    cJSON_ArrayForEach(row, rows) {
        row_is_as_it_says(row, as_text);
        row_is_as_it_says(row, as_values);
    }
    cJSON_Delete(rows);
}

/* Compiled programs depend on these offsets. */
static void members_stay_in_their_places(void) {
    static const size_t places[] = {
        offsetof(fencepost_options, size),        offsetof(fencepost_options, kind),
        offsetof(fencepost_options, permits),     offsetof(fencepost_options, names),
        offsetof(fencepost_options, name_count),  offsetof(fencepost_options, layout),
        offsetof(fencepost_options, node_prefix), offsetof(fencepost_options, identifier),
        offsetof(fencepost_options, revocable),   offsetof(fencepost_options, ttl),
        offsetof(fencepost_options, max_hold),    offsetof(fencepost_options, owner),
        offsetof(fencepost_options, unfair),      offsetof(fencepost_options, margin),
        offsetof(fencepost_options, poll),        offsetof(fencepost_options, answer_within)};
    size_t i;

    if (sizeof(void *) != 8)
        return;
    for (i = 0; i < sizeof places / sizeof *places; i++)
        CHECK(places[i] == 8 * i);
    CHECK(offsetof(fencepost_options, without_renewal) == offsetof(fencepost_options, revocable) + 1);
}

/* Every member reaches the core: the core accepts the first value, and its error for the second value names the option.
 */
static void every_member_is_passed_on(void) {
    static const char *const names[] = {"a", "b"}, *const twice[] = {"a", "a"};
    const struct {
        const fencepost_options *good, *bad;
        int expected;
        const char *words;
    } rows[] = {
        {FENCEPOST_OPTIONS(.ttl = 7), FENCEPOST_OPTIONS(.ttl = 5), FENCEPOST_RESULT_LEASE_TOO_SHORT, "a lease of 5 ms"},
        {FENCEPOST_OPTIONS(.margin = 3333), FENCEPOST_OPTIONS(.margin = 3334), FENCEPOST_RESULT_LEASE_TOO_SHORT,
         "give at least 10002 ms"},
        {FENCEPOST_OPTIONS(.poll = 1), FENCEPOST_OPTIONS(.poll = -1), FENCEPOST_RESULT_NOT_POSITIVE, "poll is -1 ms"},
        {FENCEPOST_OPTIONS(.max_hold = 1), FENCEPOST_OPTIONS(.max_hold = -1), FENCEPOST_RESULT_NOT_POSITIVE,
         "max_hold is -1 ms"},
        {FENCEPOST_OPTIONS(.answer_within = 1), FENCEPOST_OPTIONS(.answer_within = -1), FENCEPOST_RESULT_NOT_POSITIVE,
         "answer_within is -1 ms"},
        {FENCEPOST_OPTIONS(.layout = "kazoo"), FENCEPOST_OPTIONS(.layout = "other"), FENCEPOST_RESULT_INVALID_OPTION,
         "layout is \"other\""},
        {FENCEPOST_OPTIONS(.layout = "plain", .node_prefix = "n_"), FENCEPOST_OPTIONS(.node_prefix = "n_"),
         FENCEPOST_RESULT_INVALID_OPTION, "node_prefix"},
        {FENCEPOST_OPTIONS(.owner = "me"), FENCEPOST_OPTIONS(.owner = ""), FENCEPOST_RESULT_INVALID_OPTION, "owner"},
        {FENCEPOST_OPTIONS(.without_renewal = true),
         FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER, .without_renewal = true), FENCEPOST_RESULT_UNKNOWN_OPTION,
         "\"renew\""},
        {FENCEPOST_OPTIONS(.unfair = true), FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_READER, .unfair = true),
         FENCEPOST_RESULT_UNKNOWN_OPTION, "\"fair\""},
        {FENCEPOST_OPTIONS(.revocable = true), FENCEPOST_OPTIONS(.unfair = true, .revocable = true),
         FENCEPOST_RESULT_UNKNOWN_OPTION, "\"revocable\""},
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = 2),
         FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE), FENCEPOST_RESULT_INVALID_OPTION, "permits is \"0\""},
        {FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .names = names, .name_count = 2),
         FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_MULTI_LOCK, .names = twice, .name_count = 2),
         FENCEPOST_RESULT_INVALID_OPTION, "twice"},
    };
    fencepost_client *client = client_of("memory:");
    fencepost_lock *lock = NULL;
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = rows[i].good->kind == FENCEPOST_KIND_MULTI_LOCK ? NULL : "x";

        if (CHECK_RESULT(fencepost_lock_open(client, name, rows[i].good, &lock), FENCEPOST_OK))
            fencepost_lock_free(lock);
        lock = NULL;
        CHECK_FAULT(fencepost_lock_open(client, name, rows[i].bad, &lock), rows[i].expected, rows[i].words);
        CHECK(lock == NULL);
    }
    close_client(client);
}

/* The options of a program that was built with the first header. */
static void shorter_options_have_the_rest_as_default(void) {
    fencepost_client *client = client_of("memory:");
    fencepost_options options = {.size = offsetof(fencepost_options, margin), .margin = -1};
    fencepost_lock *lock = NULL;

    CHECK_RESULT(fencepost_lock_open(client, "x", &options, &lock), FENCEPOST_OK);
    fencepost_lock_free(lock);
    close_client(client);
}

static void no_command(void *self, fencepost_hub *hub, uint64_t key, const fencepost_command *command) {
    (void)self, (void)hub, (void)key, (void)command;
}

static int no_descriptor(void *self) {
    (void)self;
    return FENCEPOST_SELF_DRIVEN;
}

static size_t not_busy(void *self) {
    (void)self;
    return 0;
}

static void nothing_to_close(void *self, bool silent) {
    (void)self, (void)silent;
}

static void nothing_to_free(void *self) {
    (void)self;
}

/* A driver of the program names a kind of machine. */
static void a_driver_names_a_machine(void) {
    static const fencepost_driver driver = {
        .command = no_command,
        .descriptor = no_descriptor,
        .busy = not_busy,
        .close = nothing_to_close,
        .free = nothing_to_free,
    };
    const struct {
        const char *machine;
        const fencepost_options *wrong;
        int expected;
        const char *words;
    } rows[] = {
        {"zookeeper-mutex", FENCEPOST_OPTIONS(.ttl = 1000), FENCEPOST_RESULT_UNKNOWN_OPTION, "a lock on ZooKeeper has"},
        {"zookeeper-reader", FENCEPOST_OPTIONS(.unfair = true), FENCEPOST_RESULT_UNKNOWN_OPTION,
         "a reader on ZooKeeper has"},
        {"redis-string", FENCEPOST_OPTIONS(.layout = "kazoo"), FENCEPOST_RESULT_UNKNOWN_OPTION, "a lock on Redis has"},
        {"sql-row", NULL, FENCEPOST_RESULT_UNREADABLE_SETTINGS, "\"sql\""},
    };
    fencepost_client *client;
    fencepost_lock *lock = NULL;
    fencepost_hub *hub;
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_RESULT(fencepost_hub_new(FENCEPOST_FAMILY_ZOOKEEPER, fencepost_now(), &hub), FENCEPOST_OK);
        CHECK_RESULT(fencepost_client_new(hub, rows[i].machine, NULL, &driver, NULL, &client), FENCEPOST_OK);
        CHECK_FAULT(fencepost_lock_open(client, "x", rows[i].wrong, &lock), rows[i].expected, rows[i].words);
        if (rows[i].wrong != NULL && CHECK_RESULT(fencepost_lock_new(client, "x", &lock), FENCEPOST_OK))
            fencepost_lock_free(lock);
        close_client(client);
    }
}

int main(void) {
    TEST(settings_are_read_as_the_table_says);
    TEST(members_stay_in_their_places);
    TEST(every_member_is_passed_on);
    TEST(shorter_options_have_the_rest_as_default);
    TEST(a_driver_names_a_machine);
    return check_close();
}
