/* Words of a command, and the locks that they describe. */

#define _POSIX_C_SOURCE 200809L

#include "peer.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES = 16 };

bool parse(command *order) {
    char *rest = NULL;
    order->count = order->option_count = 0;
    order->number = strtok_r(order->text, " \r\n", &rest);
    order->verb = strtok_r(NULL, " \r\n", &rest);
    for (char *word; (word = strtok_r(NULL, " \r\n", &rest)) != NULL;) {
        bool is_option = strchr(word, '=') != NULL;
        if ((is_option ? order->option_count : order->count) == WORDS)
            return false;
        if (is_option)
            order->options[order->option_count++] = word;
        else
            order->words[order->count++] = word;
    }
    return order->verb != NULL;
}

char *unquote(char *word) {
    char *to = word;
    for (const char *from = word; *from != '\0'; from += 1) {
        char digits[3] = {0};
        if (*from == '%' && from[1] != '\0' && from[2] != '\0') {
            memcpy(digits, from + 1, 2);
            *to++ = (char)strtol(digits, NULL, 16);
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return word;
}

char *option(const command *order, const char *name) {
    size_t length = strlen(name);
    for (int i = 0; i < order->option_count; i += 1) {
        if (strncmp(order->options[i], name, length) == 0 && order->options[i][length] == '=')
            return order->options[i] + length + 1;
    }
    return NULL;
}

static int64_t number(const command *order, const char *name) {
    const char *value = option(order, name);
    return value == NULL ? 0 : strtoll(value, NULL, 10);
}

static bool is(const command *order, const char *name, const char *value) {
    const char *given = option(order, name);
    return given != NULL && strcmp(given, value) == 0;
}

static char *text(const command *order, const char *name) {
    char *value = option(order, name);
    return value == NULL ? NULL : unquote(value);
}

/* A zero in the structure means that an option is not set; these functions accept zero as a value. */
static fencepost_result set_durations(const command *order, fencepost_lock *lock) {
    fencepost_result result = FENCEPOST_OK;
    if (option(order, "ttl") != NULL)
        result = fencepost_lock_set_ttl(lock, number(order, "ttl"));
    if (result == FENCEPOST_OK && option(order, "max_hold") != NULL)
        result = fencepost_lock_set_max_hold(lock, number(order, "max_hold"));
    if (result == FENCEPOST_OK && option(order, "renew") != NULL)
        result = fencepost_lock_set_renew(lock, is(order, "renew", "true"));
    return result;
}

fencepost_result lock_open(const command *order, fencepost_client *client, fencepost_lock **lock) {
    static const struct {
        const char *name;
        fencepost_kind kind;
    } kinds[] = {
        {"mutex", FENCEPOST_KIND_MUTEX},         {"reader", FENCEPOST_KIND_READER},
        {"writer", FENCEPOST_KIND_WRITER},       {"election", FENCEPOST_KIND_ELECTION},
        {"semaphore", FENCEPOST_KIND_SEMAPHORE}, {"multi", FENCEPOST_KIND_MULTI_LOCK},
    };
    const char *names[NAMES];
    fencepost_options options = {.size = sizeof options};
    char *path = order->words[3];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i += 1) {
        if (strcmp(kinds[i].name, order->words[2]) == 0)
            options.kind = kinds[i].kind;
    }
    options.permits = number(order, "permits");
    options.owner = text(order, "owner");
    options.layout = text(order, "layout");
    options.identifier = text(order, "identifier");
    options.revocable = is(order, "revocable", "true");
    options.unfair = is(order, "fair", "false");
    if (options.kind == FENCEPOST_KIND_MULTI_LOCK) {
        char *rest = NULL;
        for (char *name = strtok_r(path, ",", &rest); name != NULL && options.name_count < NAMES;
             name = strtok_r(NULL, ",", &rest))
            names[options.name_count++] = unquote(name);
        options.names = names;
        path = NULL;
    }
    fencepost_result result = fencepost_lock_open(client, path == NULL ? NULL : unquote(path), &options, lock);
    if (result == FENCEPOST_OK && (result = set_durations(order, *lock)) != FENCEPOST_OK)
        fencepost_lock_free(*lock);
    return result;
}
