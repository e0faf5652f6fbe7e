/* Options, made settings of. */
#include <stddef.h>
#include <string.h>

#include "internal.h"

/* The kinds' names behind that of their family, as settings have them. */
static const char *const kinds[] = {"mutex", "reader", "writer", "election", "semaphore", "multi-lock"};

#define KINDS (sizeof kinds / sizeof *kinds)
#define MOST_SETTINGS 16
#define MOST_NAMES 256

/* Settings as they are gathered. What is far beyond the hub's own limits is refused here. */
struct gathered {
    fencepost_setting settings[MOST_SETTINGS];
    size_t count;
};

static fencepost_view view_of(const char *text) {
    fencepost_view view = {(const uint8_t *)text, 0};

    view.size = text == NULL ? 0 : strlen(text);
    return view;
}

static fencepost_setting *add(struct gathered *all, const char *key, fencepost_value_kind value) {
    fencepost_setting *setting = &all->settings[all->count++];

    memset(setting, 0, sizeof *setting);
    setting->key = view_of(key);
    setting->value = value;
    return setting;
}

static void add_text(struct gathered *all, const char *key, const char *text) {
    if (text != NULL)
        add(all, key, FENCEPOST_VALUE_KIND_TEXT)->text = view_of(text);
}

static void add_number(struct gathered *all, const char *key, int64_t number) {
    add(all, key, FENCEPOST_VALUE_KIND_NUMBER)->number = number;
}

static void add_millis(struct gathered *all, const char *key, int64_t millis) {
    if (millis != 0)
        add_number(all, key, micros_of(millis));
}

static void add_switch(struct gathered *all, const char *key, bool on) {
    add(all, key, FENCEPOST_VALUE_KIND_SWITCH)->number = on;
}

/* What the hub takes is what the hub refuses: numbers beyond stay beyond. */
int64_t micros_of(int64_t millis) {
    return millis > INT64_MAX / 1000 ? INT64_MAX : millis < INT64_MIN / 1000 ? INT64_MIN : millis * 1000;
}

/* Every byte of the options is named, so that a later option may take the place of a reserved one. */
typedef char
    no_padding[sizeof(void *) != 8 || sizeof(fencepost_options) == offsetof(fencepost_options, unfair) + 8 ? 1 : -1];

static bool is_reserved_zero(const fencepost_options *options) {
    static const uint8_t zero[8];

    return options->reserved_kind == 0 &&
           memcmp(options->reserved_switches, zero, sizeof options->reserved_switches) == 0 &&
           memcmp(options->reserved_end, zero, sizeof options->reserved_end) == 0;
}

/* The options as this library knows them, from a program that was built with another header. */
static fencepost_result take(const fencepost_options *given, fencepost_options *options) {
    const uint8_t *bytes = (const uint8_t *)given;
    size_t i;

    memset(options, 0, sizeof *options);
    if (given == NULL)
        return FENCEPOST_RESULT_OK;
    if (given->size < offsetof(fencepost_options, kind) + sizeof given->kind)
        return fault(
            FENCEPOST_RESULT_BAD_ARGUMENT,
            "the options do not say their size: write FENCEPOST_OPTIONS(...), or set size "
            "to sizeof(fencepost_options)");
    for (i = sizeof *options; i < given->size; i++) {
        if (bytes[i] != 0)
            return fault(FENCEPOST_RESULT_UNKNOWN_OPTION, "an option is newer than this libfencepost-client");
    }
    memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
    if (!is_reserved_zero(options))
        return fault(
            FENCEPOST_RESULT_UNKNOWN_OPTION,
            "an option is newer than this libfencepost-client, or the options were not set to zero: write "
            "FENCEPOST_OPTIONS(...)");
    if ((size_t)options->kind >= KINDS)
        return fault(FENCEPOST_RESULT_BAD_ARGUMENT, "there is no kind of lock %d", (int)options->kind);
    return FENCEPOST_RESULT_OK;
}

/* The kind's name in settings: that of the client's own kind, with the end exchanged. */
static fencepost_result
name_kind(const fencepost_client *client, const fencepost_options *options, char *kind, size_t size) {
    static const char family[] = "zookeeper-";
    size_t length = sizeof family - 1;
    const char *own = options->unfair ? "single" : kinds[options->kind];

    if (options->unfair && options->kind != FENCEPOST_KIND_MUTEX)
        return fault(FENCEPOST_RESULT_UNKNOWN_OPTION, "unknown option \"unfair\": only a mutex has it");
    if (options->kind == FENCEPOST_KIND_MUTEX && !options->unfair) {
        length = strlen(client->kind);
        own = "";
    } else if (strncmp(client->kind, family, length) != 0) {
        return fault(
            FENCEPOST_RESULT_UNKNOWN_OPTION,
            "unknown option \"%s\": only ZooKeeper (and memory:) has a %s, and this client's locks are of the kind %s",
            options->unfair ? "unfair" : "kind", own, client->kind);
    }
    if (length + strlen(own) >= size)
        return fault(FENCEPOST_RESULT_BAD_ARGUMENT, "the client's kind \"%s\" is too long", client->kind);
    memcpy(kind, client->kind, length);
    strcpy(kind + length, own);
    return FENCEPOST_RESULT_OK;
}

static fencepost_result add_names(struct gathered *all, const fencepost_options *options, fencepost_view *names) {
    fencepost_setting *setting;
    size_t i;

    if (options->names == NULL && options->name_count > 0)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    if (options->name_count > MOST_NAMES)
        return fault(
            FENCEPOST_RESULT_INVALID_OPTION, "%zu names are too many: nobody locks more than %d", options->name_count,
            MOST_NAMES);
    for (i = 0; i < options->name_count; i++) {
        if (options->names[i] == NULL)
            return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
        names[i] = view_of(options->names[i]);
    }
    setting = add(all, "names", FENCEPOST_VALUE_KIND_TEXTS);
    setting->texts = names;
    setting->text_count = options->name_count;
    return FENCEPOST_RESULT_OK;
}

/* `memory:` takes the options of a Redis, checks them as one, and has no use for them: a grant there lives as long as
 * its client. */
fencepost_result options_stand_in(const char *key, int64_t millis) {
    fencepost_settings *settings;
    struct gathered all = {.count = 0};
    fencepost_result result;

    add_text(&all, "kind", "redis-string");
    add_text(&all, "name", "memory");
    add_number(&all, key, micros_of(millis));
    if ((result = fencepost_settings_of(all.settings, all.count, &settings)) == FENCEPOST_RESULT_OK)
        fencepost_settings_free(settings);
    return result;
}

/* Whether the options of another server than the one whose model it is mean anything for this lock. */
static bool stands_in(const fencepost_client *client, const fencepost_options *options) {
    return client->stands_in && options->kind == FENCEPOST_KIND_MUTEX && !options->unfair && options->layout == NULL;
}

/* Makes a lock's settings. */
fencepost_result
options_check(const fencepost_client *client, const char *name, const fencepost_options *given, fencepost_lock *lock) {
    fencepost_view names[MOST_NAMES];
    struct gathered all;
    fencepost_options options;
    fencepost_result result;
    char kind[64];

    if ((result = take(given, &options)) != FENCEPOST_RESULT_OK ||
        (result = name_kind(client, &options, kind, sizeof kind)) != FENCEPOST_RESULT_OK)
        return result;
    if (name == NULL && options.kind != FENCEPOST_KIND_MULTI_LOCK)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    all.count = 0;
    add_text(&all, "kind", kind);
    add_text(&all, "name", name);
    if (client->prefix != NULL && client->prefix[0] != '\0')
        add_text(&all, "prefix", client->prefix);
    if (options.kind == FENCEPOST_KIND_MULTI_LOCK || options.names != NULL) {
        if ((result = add_names(&all, &options, names)) != FENCEPOST_RESULT_OK)
            return result;
    }
    if (options.kind == FENCEPOST_KIND_SEMAPHORE || options.permits != 0)
        add_number(&all, "permits", options.permits);
    add_text(&all, "layout", options.layout);
    add_text(&all, "node_prefix", options.node_prefix);
    add_text(&all, "identifier", options.identifier);
    if (options.revocable)
        add_switch(&all, "revocable", true);
    lock->stands_in = stands_in(client, &options);
    if (lock->stands_in) {
        if (options.ttl != 0 && (result = options_stand_in("ttl", options.ttl)) != FENCEPOST_RESULT_OK)
            return result;
    } else {
        if (options.without_renewal)
            add_switch(&all, "renew", false);
        add_millis(&all, "ttl", options.ttl);
    }
    add_millis(&all, "max_hold", options.max_hold);
    add_text(&all, "owner", options.owner);
    if (options.owner != NULL && name != NULL && (lock->owned = strdup(name)) == NULL)
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    return fencepost_settings_of(all.settings, all.count, &lock->settings);
}
