/* Converts options to settings. */
#include <stddef.h>
#include <string.h>

#include "internal.h"

/* The type of a member of the options. If a member is zero, the default of the option applies. */
enum value {
    TEXT,
    TEXTS, /* with their number in the next member */
    MILLIS,
    WHOLE,
    FLAG,
    INVERTED /* a flag that turns its option off */
};

struct member {
    const char *key; /* its name in settings */
    enum value value;
    size_t offset;
    uint32_t required; /* the kinds (as bits) for which the client passes it even if it is zero */
};

struct gap {
    size_t offset, size;
};

#define GAP(member)                                                                                                    \
    { offsetof(fencepost_options, member), sizeof(((fencepost_options *)0)->member) }

#include "members.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Server, kind, name and prefix come first. */
#define MOST_SETTINGS (4 + COUNT(members))
/* The hub's own limit. */
#define MOST_TEXTS 64

/* Settings while the client gathers them. The client refuses a list of texts that does not fit here. */
struct gathered {
    fencepost_setting settings[MOST_SETTINGS];
    size_t count;
    fencepost_view texts[MOST_TEXTS];
    size_t text_count;
};

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

static void add_number(struct gathered *all, const char *key, int64_t number, bool required) {
    if (number != 0 || required)
        add(all, key, FENCEPOST_VALUE_KIND_NUMBER)->number = number;
}

static void add_flag(struct gathered *all, const char *key, bool given, bool on) {
    if (given)
        add(all, key, FENCEPOST_VALUE_KIND_SWITCH)->number = on;
}

static fencepost_result
add_texts(struct gathered *all, const char *key, const char *const *texts, size_t count, bool required) {
    fencepost_view *views = all->texts + all->text_count;
    fencepost_setting *setting;
    size_t i;

    if (texts == NULL && count == 0 && !required)
        return FENCEPOST_RESULT_OK;
    if (texts == NULL && count > 0)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    if (count > MOST_TEXTS)
        return fault(
            FENCEPOST_RESULT_INVALID_OPTION, "%s is \"%zu names\": a multi-lock has from 1 to %d names", key, count,
            MOST_TEXTS);
    for (i = 0; i < count; i++) {
        if (texts[i] == NULL)
            return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
        views[i] = view_of(texts[i]);
    }
    all->text_count += count;
    setting = add(all, key, FENCEPOST_VALUE_KIND_TEXTS);
    setting->texts = views;
    setting->text_count = count;
    return FENCEPOST_RESULT_OK;
}

/* The conversion saturates, so that the hub refuses a value that is too large. */
int64_t micros_of(int64_t millis) {
    return millis > INT64_MAX / 1000 ? INT64_MAX : millis < INT64_MIN / 1000 ? INT64_MIN : millis * 1000;
}

static fencepost_result
add_member(struct gathered *all, const fencepost_options *options, const struct member *member) {
    const void *at = (const char *)options + member->offset;
    bool required = member->required >> options->kind & 1;

    switch (member->value) {
    case TEXT:
        add_text(all, member->key, *(const char *const *)at);
        break;
    case TEXTS:
        return add_texts(all, member->key, *(const char *const *const *)at, ((const size_t *)at)[1], required);
    case MILLIS:
        add_number(all, member->key, micros_of(*(const int64_t *)at), required);
        break;
    case WHOLE:
        add_number(all, member->key, *(const int64_t *)at, required);
        break;
    case FLAG:
    case INVERTED:
        add_flag(all, member->key, *(const bool *)at, member->value == FLAG);
        break;
    }
    return FENCEPOST_RESULT_OK;
}

/* Every byte of the options has a name, so that a later option may replace a reserved one. */
typedef char no_padding[sizeof(void *) != 8 || sizeof(fencepost_options) == MEMBERS_SIZE ? 1 : -1];

static bool is_reserved_zero(const fencepost_options *options) {
    const uint8_t *bytes = (const uint8_t *)options;
    size_t i, j;

    for (i = 0; i < COUNT(gaps); i++) {
        for (j = 0; j < gaps[i].size; j++) {
            if (bytes[gaps[i].offset + j] != 0)
                return false;
        }
    }
    return true;
}

/* Copies the options into this library's version of the structure. The program may have been built with another version
 * of the header. */
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
            return fault(
                FENCEPOST_RESULT_UNKNOWN_OPTION,
                "an option is newer than this libfencepost-client: use a newer library");
    }
    memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
    if (!is_reserved_zero(options))
        return fault(
            FENCEPOST_RESULT_UNKNOWN_OPTION,
            "an option is newer than this libfencepost-client, or the options were not set to zero: write "
            "FENCEPOST_OPTIONS(...)");
    if ((size_t)options->kind >= COUNT(kinds))
        return fault(
            FENCEPOST_RESULT_BAD_ARGUMENT, "there is no kind of lock %d: use a fencepost_kind", (int)options->kind);
    return FENCEPOST_RESULT_OK;
}

/* Makes a lock's settings. */
fencepost_result
options_check(const fencepost_client *client, const char *name, const fencepost_options *given, fencepost_lock *lock) {
    struct gathered all;
    fencepost_options options;
    fencepost_result result = take(given, &options);
    size_t i;

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if (name == NULL && options.kind != FENCEPOST_KIND_MULTI_LOCK)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    all.count = all.text_count = 0;
    add_text(&all, "server", client->locks->server);
    add_text(&all, "kind", options.kind == FENCEPOST_KIND_MUTEX ? client->locks->kind : kinds[options.kind]);
    add_text(&all, "name", name);
    if (client->locks->prefix != NULL && client->locks->prefix[0] != '\0')
        add_text(&all, "prefix", client->locks->prefix);
    for (i = 0; i < COUNT(members); i++) {
        if ((result = add_member(&all, &options, &members[i])) != FENCEPOST_RESULT_OK)
            return result;
    }
    if (options.owner != NULL && name != NULL && (lock->owned = strdup(name)) == NULL)
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    return fencepost_settings_of(all.settings, all.count, &lock->settings);
}
