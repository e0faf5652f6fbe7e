/* Passes random arguments to the functions of libfencepost without a hub: settings, addresses, names and others. See
 * fuzz.c. */
#include "chance.h"

/* ---- functions without a hub ---- */

/* A list of settings, and the settings of an inspection. */
static void values_take_anything(const fencepost_settings *lock) {
    static const char *const keys[] = {"kind",   "name",    "prefix",        "layout", "node_prefix", "identifier",
                                       "names",  "permits", "revocable",     "ttl",    "renew",       "max_hold",
                                       "action", "node",    "fence",         "of",     "server",      "fair",
                                       "margin", "poll",    "answer_within", "owner"};
    static const char *const words[] = {
        "zookeeper-semaphore", "zookeeper-writer", "redis-string", "kazoo", "plain", "list", "break", "mutex", "7"};
    fencepost_setting given[6];
    fencepost_view texts[3], action, node;
    fencepost_settings *settings = NULL;
    size_t count = below(7), i;
    fencepost_result result;
    const char *word;

    for (i = 0; i < 3; i++)
        texts[i] = some_text();
    for (i = 0; i < count; i++) {
        const char *key = i == 0 ? "kind" : i == 1 ? "name" : keys[below(sizeof keys / sizeof *keys)];

        memset(&given[i], 0, sizeof given[i]);
        word = words[i == 0 ? below(3) : below(sizeof words / sizeof *words)];
        given[i].key = rarely(20) ? some_text() : copy(key, strlen(key));
        given[i].value = i < 2 ? FENCEPOST_VALUE_KIND_TEXT : (uint32_t)below(6);
        given[i].number = (int64_t)number();
        given[i].text = rarely(3) ? some_text() : copy(word, strlen(word));
        given[i].texts = rarely(8) ? NULL : texts;
        given[i].text_count = below(4);
    }
    result = fencepost_settings_of(rarely(20) ? NULL : given, count, &settings);
    CHECK((result == FENCEPOST_OK) == (settings != NULL));
    check_status(result);
    check_status(fencepost_settings_of(given, 0, NULL));
    fencepost_settings_free(settings);
    settings = NULL;
    word = words[5 + below(3)];
    action = rarely(3) ? some_text() : copy(word, strlen(word));
    node = some_text();
    result = fencepost_settings_inspection(
        rarely(8) ? NULL : lock, action.data, action.size, node.data, node.size, number(), &settings);
    CHECK((result == FENCEPOST_OK) == (settings != NULL));
    check_status(result);
    fencepost_settings_free(settings);
}

static void settings_take_anything(void) {
    uint64_t left;

    for (left = stories; left > 0 && check_broken == 0; left--) {
        static const char *const forms[] = {
            "{\"kind\": \"redis-string\", \"name\": \"a\", \"ttl\": %lld}",
            "{\"kind\": \"zookeeper-mutex\", \"name\": \"a\", \"max_hold\": %lld}", "{\"kind\": %lld}", "%lld",
            "[%lld"};
        fencepost_view one = some_text(), other = some_text();
        fencepost_settings *settings = NULL;
        char json[200];
        fencepost_result result;

        snprintf(json, sizeof json, forms[below(5)], (long long)number());
        if (rarely(2))
            json[below(strlen(json))] = (char)any();
        result = rarely(2) ? fencepost_settings_new(one.data, one.size, other.data, other.size, &settings)
                           : fencepost_settings_parse((const uint8_t *)json, strlen(json), &settings);
        CHECK((result == FENCEPOST_OK) == (settings != NULL));
        check_status(result);
        check_status(fencepost_settings_parse((const uint8_t *)json, strlen(json), NULL));
        if (settings == NULL)
            settings = settings_for((enum kind)below(KINDS), "a");
        values_take_anything(settings);
        one = some_text();
        check_status(fencepost_settings_set_micros(rarely(8) ? NULL : settings, one.data, one.size, (int64_t)number()));
        one = some_text();
        check_status(fencepost_settings_set_switch(rarely(8) ? NULL : settings, one.data, one.size, rarely(2)));
        one = some_text(), other = some_text();
        check_status(
            fencepost_settings_set_text(rarely(8) ? NULL : settings, one.data, one.size, other.data, other.size));
        CHECK(fencepost_settings_family(settings) != 0 && fencepost_settings_family(NULL) == 0);
        fencepost_settings_free(settings);
    }
    fencepost_settings_free(NULL);
}

static void addresses_take_anything(void) {
    uint64_t left;

    for (left = stories; left > 0 && check_broken == 0; left--) {
        fencepost_view start = some_text(), rest = some_text();
        fencepost_address *address = NULL;
        fencepost_address_parts parts = {.size = sizeof parts};
        char url[120];
        size_t size = 0;

        if (start.data != NULL && start.size < 60)
            memcpy(url, start.data, size = start.size);
        if (rest.data != NULL && rest.size < 60) {
            memcpy(url + size, rest.data, rest.size);
            size += rest.size;
        }
        free_buffers();
        start = copy(url, size);
        if (fencepost_address_parse(start.data, start.size, &address) == FENCEPOST_OK) {
            free_buffers();
            CHECK_RESULT(fencepost_address_read(address, &parts), FENCEPOST_OK);
            look_at(parts.name), look_at(parts.hosts), look_at(parts.prefix), look_at(parts.user);
            look_at(parts.password);
        } else {
            CHECK(address == NULL && fencepost_detail()[0] != '\0');
        }
        check_status(fencepost_address_read(address, NULL));
        check_status(fencepost_address_read(NULL, &parts));
        check_status(fencepost_address_parse(NULL, (size_t)number(), NULL));
        fencepost_address_free(address);
    }
    fencepost_address_free(NULL);
}

static void names_take_anything(void) {
    static const char *(*const functions[])(uint32_t) = {
        fencepost_family_name, fencepost_operation_name, fencepost_target_name,        fencepost_failure_name,
        fencepost_event_name,  fencepost_timer_name,     fencepost_session_state_name, fencepost_watch_event_name};
    uint64_t left;

    for (left = stories; left > 0; left--) {
        const char *name = functions[below(8)]((uint32_t)number());

        CHECK(name == NULL || *name != '\0');
        name = fencepost_result_name((int32_t)number());
        CHECK(name == NULL || *name != '\0');
        name = fencepost_result_text((int32_t)any());
        CHECK(name == NULL || *name != '\0');
    }
}

static void the_rest_takes_anything(void) {
    uint64_t left, ids[4];

    for (left = stories; left > 0 && check_broken == 0; left--) {
        fencepost_view words = some_text();
        fencepost_memory *memory = NULL;
        fencepost_hub *hub = NULL;
        uint32_t family = (uint32_t)number();

        CHECK((fencepost_hub_new(family, any(), &hub) == FENCEPOST_OK) == (family == 1 || family == 2));
        fencepost_hub_free(hub);
        CHECK_RESULT(fencepost_hub_new(FENCEPOST_FAMILY_REDIS, any(), NULL), FENCEPOST_RESULT_NULL_POINTER);
        CHECK_RESULT(fencepost_memory_new(NULL), FENCEPOST_RESULT_NULL_POINTER);
        CHECK_RESULT(fencepost_memory_new(&memory), FENCEPOST_OK);
        CHECK_RESULT(fencepost_memory_hub(NULL, number(), any(), any(), &hub), FENCEPOST_RESULT_NULL_POINTER);
        CHECK_RESULT(fencepost_memory_hub(memory, number(), any(), any(), NULL), FENCEPOST_RESULT_NULL_POINTER);
        CHECK(fencepost_memory_take_woken(NULL, ids, 4) == 0);
        CHECK(fencepost_memory_take_woken(memory, NULL, (size_t)number()) == 0);
        CHECK(fencepost_memory_take_woken(memory, ids, 4) <= 4);
        fencepost_memory_free(memory);
        if (words.data != NULL || words.size == 0)
            fencepost_set_detail(words.data, words.size);
        CHECK(fencepost_detail() != NULL);
        free_buffers();
    }
    fencepost_memory_free(NULL);
    fencepost_hub_free(NULL);
    CHECK(fencepost_hub_pending(NULL) == 0 && fencepost_hub_id(NULL) == 0);
}

int main(void) {
    fuzz_begin();
    TEST(settings_take_anything);
    TEST(addresses_take_anything);
    TEST(names_take_anything);
    TEST(the_rest_takes_anything);
    return check_close();
}
