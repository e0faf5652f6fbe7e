/* Scopes of idempotent operations on the raw hub: the table of options that all languages read, the settings of each
 * request, and results of any bytes. The tests need no server. */
#include <cjson/cJSON.h>

#include "check.h"

#ifndef TABLE
#error "TABLE is the path of tests/scopes.json"
#endif

#define MOST 12
#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static fencepost_view view_of(const char *text) {
    fencepost_view view = {(const uint8_t *)text, strlen(text)};

    return view;
}

/* A scope on Redis with the options of a JSON object. */
static fencepost_result scope_of(const cJSON *options, fencepost_scope **scope) {
    fencepost_setting given[MOST];
    const cJSON *value;
    size_t count = 1;

    memset(given, 0, sizeof given);
    given[0].key = view_of("server");
    given[0].value = FENCEPOST_VALUE_KIND_TEXT;
    given[0].text = view_of("redis");
    cJSON_ArrayForEach(value, options) {
        fencepost_setting *setting = &given[count++];

        setting->key = view_of(value->string);
        if (cJSON_IsString(value)) {
            setting->value = FENCEPOST_VALUE_KIND_TEXT;
            setting->text = view_of(value->valuestring);
        } else if (cJSON_IsNumber(value)) {
            setting->value = FENCEPOST_VALUE_KIND_NUMBER;
            setting->number = (int64_t)value->valuedouble;
        } else {
            setting->value = FENCEPOST_VALUE_KIND_SWITCH;
            setting->number = cJSON_IsTrue(value);
        }
    }
    return fencepost_scope_of(given, count, scope);
}

static void row_is_as_it_says(const cJSON *row) {
    const cJSON *options = cJSON_GetObjectItemCaseSensitive(row, "options");
    const char *error = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "error"));
    const char *says = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "says"));
    fencepost_scope *scope = NULL;
    fencepost_result result = scope_of(options, &scope);
    bool good;

    if (error == NULL)
        good = CHECK_RESULT(result, FENCEPOST_OK);
    else
        good = CHECK(strcmp(fencepost_result_name((int)result), error) == 0) &&
               CHECK(strstr(fencepost_detail(), says) != NULL) && CHECK(scope == NULL);
    if (!good) {
        char *text = cJSON_PrintUnformatted(options);

        printf("    %s: %s\n", text, fencepost_detail());
        free(text);
    }
    fencepost_scope_free(scope);
}

static void scopes_are_read_as_the_table_says(void) {
    static char text[16384];
    FILE *file = fopen(TABLE, "rb");
    size_t size = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    const cJSON *row;
    cJSON *rows;

    if (file != NULL)
        fclose(file);
    text[size] = '\0';
    rows = cJSON_Parse(text);
    if (CHECK(cJSON_GetArraySize(rows) > 10))
        cJSON_ArrayForEach(row, rows) row_is_as_it_says(row);
    cJSON_Delete(rows);
}

static fencepost_scope *payments(void) {
    cJSON *options = cJSON_CreateObject();
    fencepost_scope *scope = NULL;

    cJSON_AddStringToObject(options, "scope", "payments");
    CHECK_RESULT(scope_of(options, &scope), FENCEPOST_OK);
    cJSON_Delete(options);
    return scope;
}

/* Begins a machine with these settings, and frees the settings. Returns the id of its command. */
static uint64_t begin(fencepost_hub *hub, fencepost_settings *settings, uint64_t *key) {
    fencepost_output output = {.size = sizeof output};
    static uint64_t contender[2];

    contender[0]++;
    CHECK_RESULT(fencepost_hub_open(hub, 1, settings, (const uint8_t *)contender, 1, key), FENCEPOST_OK);
    fencepost_settings_free(settings);
    CHECK_RESULT(fencepost_hub_try_acquire(hub, 1, *key), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_poll_output(hub, *key, &output), FENCEPOST_OK);
    return CHECK(output.kind == FENCEPOST_OUTPUT_KIND_COMMAND) ? output.command->id : 0;
}

/* Reports the server's reply. Returns the next event. */
static const fencepost_event *answer(fencepost_hub *hub, uint64_t id, const void *bytes, size_t size) {
    static fencepost_output output;
    fencepost_reply reply = {0};

    reply.kind = FENCEPOST_REPLY_KIND_BYTES;
    reply.bytes.data = bytes;
    reply.bytes.size = size;
    CHECK_RESULT(fencepost_hub_reply(hub, 2, id, &reply), FENCEPOST_OK);
    output.size = sizeof output;
    CHECK_RESULT(fencepost_hub_poll_output(hub, FENCEPOST_ALL, &output), FENCEPOST_OK);
    return CHECK(output.kind == FENCEPOST_OUTPUT_KIND_EVENT) ? output.event : NULL;
}

static void results_are_any_bytes(void) {
    static const char claimed[] = "claimed 1790000000000001 2";
    static const char head[] = "looked fencepost-record:1\n"
                               "state:4:done\n"
                               "attempt:34:6f74686572206f6e6520697320686572-1\n"
                               "fence:1:7\n"
                               "fingerprint:5:print\n"
                               "retention:8:86400000\n"
                               "kept:13:1790086400000\n"
                               "tag:3:raw\n"
                               "result:256:";
    fencepost_scope *scope = payments();
    fencepost_settings *settings = NULL;
    fencepost_output output = {.size = sizeof output};
    const fencepost_event *event;
    fencepost_hub *hub = NULL;
    uint8_t all[256], record[sizeof head + sizeof all];
    uint64_t key, id;
    bool sent = false;
    size_t i;

    for (i = 0; i < sizeof all; i++)
        all[i] = (uint8_t)i;
    CHECK_RESULT(fencepost_hub_new(FENCEPOST_FAMILY_REDIS, 1, &hub), FENCEPOST_OK);
    CHECK_RESULT(fencepost_scope_claim(scope, BYTES("order-17"), all, sizeof all, &settings), FENCEPOST_OK);
    event = answer(hub, begin(hub, settings, &key), claimed, sizeof claimed - 1);
    NEED(event != NULL && event->kind == FENCEPOST_EVENT_KIND_ACQUIRED);
    CHECK(event->takeovers == 2 && event->fence == 1790000000000001u && event->record == NULL);
    CHECK(event->retry_after == FENCEPOST_NEVER);
    CHECK_RESULT(fencepost_hub_complete(hub, 2, key, BYTES("raw"), all, sizeof all), FENCEPOST_OK);
    CHECK_RESULT(fencepost_hub_poll_output(hub, key, &output), FENCEPOST_OK);
    NEED(output.kind == FENCEPOST_OUTPUT_KIND_COMMAND);
    for (i = 0; i < output.command->argument_count; i++) {
        fencepost_view argument = output.command->arguments[i];

        sent = sent || (argument.size == sizeof all && memcmp(argument.data, all, sizeof all) == 0);
    }
    CHECK(sent);

    CHECK_RESULT(fencepost_scope_look(scope, BYTES("order-17"), &settings), FENCEPOST_OK);
    id = begin(hub, settings, &key);
    memcpy(record, head, sizeof head - 1);
    memcpy(record + sizeof head - 1, all, sizeof all);
    record[sizeof record - 1] = '\n';
    event = answer(hub, id, record, sizeof record);
    NEED(event != NULL && event->kind == FENCEPOST_EVENT_KIND_LOOKED && event->record != NULL);
    CHECK(event->record->state == FENCEPOST_RECORD_STATE_DONE && event->record->policy == FENCEPOST_POLICY_RETAKE);
    CHECK(event->record->fence == 7 && event->record->guard == 8 && event->record->kept_until == 1790086400000u);
    CHECK(event->record->tag.size == 3 && memcmp(event->record->tag.data, "raw", 3) == 0);
    CHECK(event->record->result.size == sizeof all && memcmp(event->record->result.data, all, sizeof all) == 0);
    fencepost_hub_free(hub);
    fencepost_scope_free(scope);
}

static void a_derived_key_is_the_same_in_all_languages(void) {
    fencepost_scope *scope = payments();
    char one[FENCEPOST_DERIVED_SIZE], other[FENCEPOST_DERIVED_SIZE];

    CHECK_RESULT(fencepost_scope_derive(scope, BYTES("order-17"), BYTES("charge"), one), FENCEPOST_OK);
    CHECK(strcmp(one, "5ea047ab7a76865a46935f91d9a50cc4") == 0);
    CHECK_RESULT(fencepost_scope_derive(scope, BYTES("order-18"), BYTES("charge"), other), FENCEPOST_OK);
    CHECK(strlen(other) == 32 && strcmp(one, other) != 0);
    CHECK_RESULT(fencepost_scope_derive(scope, BYTES(""), BYTES("charge"), other), FENCEPOST_RESULT_INVALID_OPTION);
    CHECK_RESULT(fencepost_scope_derive(scope, BYTES("x"), BYTES("charge"), NULL), FENCEPOST_RESULT_NULL_POINTER);
    fencepost_scope_free(scope);
}

static void bad_requests_are_refused(void) {
    static uint8_t large[1000001];
    fencepost_scope *scope = payments(), *none = NULL;
    fencepost_settings *settings = NULL;

    CHECK_RESULT(fencepost_scope_of(NULL, 1, &none), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_scope_of(NULL, 0, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_scope_of(NULL, 0, &none), FENCEPOST_RESULT_UNREADABLE_SETTINGS);
    CHECK_RESULT(fencepost_scope_claim(NULL, BYTES("x"), NULL, 0, &settings), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_scope_claim(scope, BYTES("x"), NULL, 1, &settings), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_scope_claim(scope, BYTES("x"), NULL, 0, NULL), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_FAULT(fencepost_scope_claim(scope, BYTES(""), NULL, 0, &settings), FENCEPOST_RESULT_INVALID_OPTION, "key is");
    CHECK_RESULT(fencepost_scope_claim(scope, BYTES("\xff"), NULL, 0, &settings), FENCEPOST_RESULT_BAD_ARGUMENT);
    CHECK_FAULT(
        fencepost_scope_claim(scope, BYTES("x"), large, 1025, &settings), FENCEPOST_RESULT_INVALID_OPTION,
        "fingerprint");
    CHECK_FAULT(
        fencepost_scope_consume(scope, BYTES("x"), large, 1025, NULL, 0, &settings), FENCEPOST_RESULT_INVALID_OPTION,
        "binding");
    CHECK_FAULT(
        fencepost_scope_issue(scope, BYTES("x"), NULL, 0, -1, &settings), FENCEPOST_RESULT_NOT_POSITIVE, "life");
    CHECK_FAULT(
        fencepost_scope_register(scope, BYTES("x"), NULL, 0, NULL, 0, NULL, 0, large, sizeof large, &settings),
        FENCEPOST_RESULT_INVALID_OPTION, "result");
    CHECK_FAULT(
        fencepost_scope_update(scope, BYTES("x"), BYTES(""), 0, NULL, 0, NULL, 0, NULL, 0, &settings),
        FENCEPOST_RESULT_INVALID_OPTION, "operation");
    CHECK_FAULT(
        fencepost_scope_settle(scope, BYTES("x"), 1, large, 256, NULL, 0, &settings), FENCEPOST_RESULT_INVALID_OPTION,
        "tag");
    CHECK_RESULT(fencepost_scope_forget(scope, BYTES(""), 1, &settings), FENCEPOST_RESULT_INVALID_OPTION);
    CHECK(settings == NULL && none == NULL);

    CHECK_RESULT(fencepost_scope_forget(scope, BYTES("x"), 1, &settings), FENCEPOST_OK);
    CHECK_FAULT(fencepost_settings_set_micros(settings, BYTES("lease"), 1), FENCEPOST_RESULT_BAD_ARGUMENT, "scope");
    fencepost_settings_free(settings);
    fencepost_scope_free(scope);
    fencepost_scope_free(NULL);
}

static void a_lock_is_no_claim(void) {
    static const char text[] = "{\"kind\": \"redis-string\", \"name\": \"x\"}";
    fencepost_settings *settings = NULL;
    fencepost_hub *hub = NULL;
    uint64_t key;

    CHECK_RESULT(fencepost_hub_new(FENCEPOST_FAMILY_REDIS, 1, &hub), FENCEPOST_OK);
    CHECK_RESULT(fencepost_settings_parse(BYTES(text), &settings), FENCEPOST_OK);
    begin(hub, settings, &key);
    CHECK_RESULT(fencepost_hub_complete(hub, 2, key, NULL, 0, NULL, 0), FENCEPOST_RESULT_NOT_A_CLAIM);
    CHECK_RESULT(fencepost_hub_leave(hub, 2, key), FENCEPOST_RESULT_NOT_A_CLAIM);
    CHECK_RESULT(fencepost_hub_leave(NULL, 2, key), FENCEPOST_RESULT_NULL_POINTER);
    CHECK_RESULT(fencepost_hub_complete(NULL, 2, key, NULL, 0, NULL, 0), FENCEPOST_RESULT_NULL_POINTER);
    fencepost_hub_free(hub);
}

int main(void) {
    TEST(scopes_are_read_as_the_table_says);
    TEST(results_are_any_bytes);
    TEST(a_derived_key_is_the_same_in_all_languages);
    TEST(bad_requests_are_refused);
    TEST(a_lock_is_no_claim);
    return check_close();
}
