/* Passes input lines to a hub through its public functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

static const char *text_of(const cJSON *object, const char *key) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

    return text == NULL ? "" : text;
}

static const uint8_t *bytes_of(const cJSON *object, const char *key) {
    return (const uint8_t *)text_of(object, key);
}

/* Numbers in a transcript are below 2^53. Larger numbers are texts. */
static uint64_t number_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    return cJSON_IsNumber(item) ? (uint64_t)item->valuedouble : 0;
}

static int64_t big_of(const cJSON *object, const char *key) {
    return strtoll(text_of(object, key), NULL, 10);
}

typedef const char *name_function(uint32_t number);

/* The number with this name. */
static uint32_t named(const char *name, name_function *names) {
    uint32_t number;

    for (number = 1; number < 16; number++) {
        if (names(number) != NULL && strcmp(names(number), name) == 0)
            return number;
    }
    return 0;
}

/* An object as JSON. cJSON itself writes large numbers with an exponent, and the core does not parse these as integers.
 */
static char *json_of(const cJSON *object) {
    cJSON *copy = cJSON_Duplicate(object, true), *item, *next;
    char number[32], *json;

    for (item = copy == NULL ? NULL : copy->child; item != NULL; item = next) {
        next = item->next;
        snprintf(number, sizeof number, "%.0f", item->valuedouble);
        if (cJSON_IsNumber(item))
            cJSON_ReplaceItemInObjectCaseSensitive(copy, item->string, cJSON_CreateRaw(number));
    }
    json = cJSON_PrintUnformatted(copy);
    cJSON_Delete(copy);
    return json;
}

static int open_machine(fencepost_hub *hub, const cJSON *step, uint64_t at) {
    char *json = json_of(cJSON_GetObjectItemCaseSensitive(step, "settings"));
    const char *hex = text_of(step, "contender");
    fencepost_settings *settings = NULL;
    uint8_t contender[16] = {0};
    unsigned byte;
    uint64_t key;
    size_t i;
    int result;

    for (i = 0; i < sizeof contender && sscanf(hex + 2 * i, "%2x", &byte) == 1; i++)
        contender[i] = (uint8_t)byte;
    result = fencepost_settings_parse((const uint8_t *)json, strlen(json), &settings);
    if (result == FENCEPOST_OK)
        result = fencepost_hub_open(hub, at, settings, contender, number_of(step, "seed"), &key);
    fencepost_settings_free(settings);
    free(json);
    return result;
}

static int children(fencepost_hub *hub, uint64_t at, uint64_t id, int64_t session, const cJSON *names) {
    size_t count = (size_t)cJSON_GetArraySize(names), i = 0;
    fencepost_view *views = calloc(count + 1, sizeof *views);
    const cJSON *name;
    int result;

    cJSON_ArrayForEach(name, names) {
        views[i].data = (const uint8_t *)name->valuestring;
        views[i++].size = strlen(name->valuestring);
    }
    result = fencepost_hub_children(hub, at, id, session, views, count);
    free(views);
    return result;
}

static void read_value(const cJSON *value, fencepost_reply *reply) {
    fencepost_reply *items;
    const cJSON *item;
    size_t i = 0;

    memset(reply, 0, sizeof *reply);
    if (cJSON_IsNumber(value)) {
        reply->kind = FENCEPOST_REPLY_KIND_INTEGER;
        reply->integer = (int64_t)value->valuedouble;
    } else if (cJSON_IsString(value)) {
        reply->kind = FENCEPOST_REPLY_KIND_BYTES;
        reply->bytes.data = (const uint8_t *)value->valuestring;
        reply->bytes.size = strlen(value->valuestring);
    } else if (cJSON_IsArray(value)) {
        items = calloc((size_t)cJSON_GetArraySize(value) + 1, sizeof *items);
        cJSON_ArrayForEach(item, value) read_value(item, &items[i++]);
        reply->kind = FENCEPOST_REPLY_KIND_ARRAY;
        reply->items = items;
        reply->item_count = i;
    }
}

static void free_value(fencepost_reply *reply) {
    size_t i;

    for (i = 0; i < reply->item_count; i++)
        free_value((fencepost_reply *)&reply->items[i]);
    free((fencepost_reply *)reply->items);
}

static int redis_reply(fencepost_hub *hub, const cJSON *step, uint64_t at, uint64_t id) {
    fencepost_reply reply = {0};
    int result;

    if (strcmp(text_of(step, "reply"), "redis-error") == 0) {
        reply.kind = FENCEPOST_REPLY_KIND_ERROR;
        reply.bytes.data = bytes_of(step, "error");
        reply.bytes.size = strlen(text_of(step, "error"));
        return fencepost_hub_reply(hub, at, id, &reply);
    }
    read_value(cJSON_GetObjectItemCaseSensitive(step, "value"), &reply);
    result = fencepost_hub_reply(hub, at, id, &reply);
    free_value(&reply);
    return result;
}

/* If a node was never changed, its last transaction and time are those of its creation. */
static int data(fencepost_hub *hub, const cJSON *step, uint64_t at, uint64_t id, int64_t session) {
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(step, "version");
    int64_t created = (int64_t)number_of(step, "created");

    return fencepost_hub_data(
        hub, at, id, session, bytes_of(step, "data"), strlen(text_of(step, "data")), big_of(step, "czxid"),
        big_of(step, cJSON_HasObjectItem(step, "mzxid") ? "mzxid" : "czxid"), big_of(step, "owner"),
        version == NULL ? 0 : version->valueint, created,
        cJSON_HasObjectItem(step, "modified") ? (int64_t)number_of(step, "modified") : created);
}

static int reply(fencepost_hub *hub, const cJSON *step, uint64_t at) {
    const char *kind = text_of(step, "reply"), *path = text_of(step, "path");
    uint64_t id = number_of(step, "id");
    int64_t session = big_of(step, "session");
    const cJSON *code = cJSON_GetObjectItemCaseSensitive(step, "code");

    if (strcmp(kind, "created") == 0)
        return fencepost_hub_created(hub, at, id, session, (const uint8_t *)path, strlen(path), big_of(step, "czxid"));
    if (strcmp(kind, "children") == 0)
        return children(hub, at, id, session, cJSON_GetObjectItemCaseSensitive(step, "names"));
    if (strcmp(kind, "data") == 0)
        return data(hub, step, at, id, session);
    if (strcmp(kind, "done") == 0)
        return fencepost_hub_done(hub, at, id, session);
    if (strcmp(kind, "error") == 0)
        return fencepost_hub_error(hub, at, id, session, code == NULL ? 0 : code->valueint);
    return redis_reply(hub, step, at, id);
}

static int complete(fencepost_hub *hub, const cJSON *step, uint64_t at, uint64_t key) {
    const char *tag = text_of(step, "tag"), *result = text_of(step, "result");

    return fencepost_hub_complete(
        hub, at, key, (const uint8_t *)tag, strlen(tag), (const uint8_t *)result, strlen(result));
}

int line_put(fencepost_hub *hub, const cJSON *step) {
    const char *verb = text_of(step, "do");
    uint64_t at = number_of(step, "at"), key = number_of(step, "key"), id = number_of(step, "id");
    const cJSON *acquire_timeout = cJSON_GetObjectItemCaseSensitive(step, "acquire_timeout");

    if (strcmp(verb, "open") == 0)
        return open_machine(hub, step, at);
    if (strcmp(verb, "acquire") == 0)
        return fencepost_hub_acquire(
            hub, at, key, cJSON_IsNumber(acquire_timeout) ? (int64_t)acquire_timeout->valuedouble : FENCEPOST_FOREVER);
    if (strcmp(verb, "try") == 0)
        return fencepost_hub_try_acquire(hub, at, key);
    if (strcmp(verb, "extend") == 0)
        return fencepost_hub_extend(hub, at, key);
    if (strcmp(verb, "downgrade") == 0)
        return fencepost_hub_downgrade(hub, at, key);
    if (strcmp(verb, "release") == 0)
        return fencepost_hub_release(hub, at, key);
    if (strcmp(verb, "complete") == 0)
        return complete(hub, step, at, key);
    if (strcmp(verb, "leave") == 0)
        return fencepost_hub_leave(hub, at, key);
    if (strcmp(verb, "cancel") == 0)
        return fencepost_hub_cancel(hub, at, key);
    if (strcmp(verb, "close") == 0)
        return fencepost_hub_close(hub, at, key, NULL);
    if (strcmp(verb, "shutdown") == 0)
        return fencepost_hub_shutdown(hub, at);
    if (strcmp(verb, "timeout") == 0)
        return fencepost_hub_handle_timeout(hub, at);
    if (strcmp(verb, "reply") == 0)
        return reply(hub, step, at);
    if (strcmp(verb, "fail") == 0)
        return fencepost_hub_failed(hub, at, id, named(text_of(step, "failure"), fencepost_failure_name));
    if (strcmp(verb, "session") == 0)
        return fencepost_hub_session(
            hub, at, named(text_of(step, "state"), fencepost_session_state_name), big_of(step, "session"),
            number_of(step, "timeout"));
    if (strcmp(verb, "watch") == 0)
        return fencepost_hub_watch(
            hub, at, id, big_of(step, "session"), named(text_of(step, "event"), fencepost_watch_event_name));
    if (strcmp(verb, "message") == 0)
        return fencepost_hub_message(hub, at, id);
    if (strcmp(verb, "gone") == 0)
        return fencepost_hub_gone(hub, at, id);
    return -1;
}
