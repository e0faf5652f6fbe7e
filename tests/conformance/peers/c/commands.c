/* The protocol's commands by name, and their answers. */

#define _POSIX_C_SOURCE 200809L

#include "peer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t speaking = PTHREAD_MUTEX_INITIALIZER;

void say(const char *number, const char *answer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&speaking);
    printf("{\"id\": \"%s\", \"answer\": \"%s\"", number, answer);
    vprintf(format, arguments);
    puts("}");
    fflush(stdout);
    pthread_mutex_unlock(&speaking);
    va_end(arguments);
}

void say_result(const command *order, fencepost_result result) {
    say(order->number, result == FENCEPOST_OK ? "ok" : fencepost_result_name(result), "");
}

static bool is(const command *order, const char *verb) {
    return strcmp(order->verb, verb) == 0;
}

static const char *word(const command *order, int at) {
    return at < order->count ? order->words[at] : "";
}

bool begin(const command *order) {
    bool tries = is(order, "try"), claims = is(order, "claim") || is(order, "consume");
    if (!tries && !claims && !is(order, "acquire"))
        return true;
    fencepost_lock *lock = name_find(LOCK, word(order, 1));
    fencepost_attempt *attempt = NULL;
    const char *timeout = option(order, "timeout");
    int64_t limit = timeout == NULL ? FENCEPOST_FOREVER : strtoll(timeout, NULL, 10);
    fencepost_result result = claims  ? claim_start(order, &attempt)
                              : tries ? fencepost_lock_try_acquire_start(lock, &attempt)
                                      : fencepost_lock_acquire_start(lock, limit, &attempt);
    if (result == FENCEPOST_OK)
        name_give(ATTEMPT, word(order, 0), attempt);
    else
        say_result(order, result);
    return result == FENCEPOST_OK;
}

static void finish_acquire(const command *order) {
    fencepost_grant *grant = NULL;
    fencepost_result result = fencepost_attempt_wait(name_find(ATTEMPT, word(order, 0)), &grant);
    fencepost_result held = is(order, "try") ? FENCEPOST_RESULT_NOT_AVAILABLE : FENCEPOST_RESULT_TIMEOUT;
    if (result == FENCEPOST_OK) {
        name_give(GRANT, word(order, 0), grant);
        say(order->number, "granted", ", \"fence\": \"%" PRIu64 "\"", fencepost_grant_fence(grant));
    } else if (result == held) {
        say(order->number, "not-acquired", "");
    } else {
        say_result(order, result);
    }
}

static void look(const command *order, fencepost_grant *grant) {
    char remaining[32] = "null";
    int64_t left = fencepost_grant_remaining(grant);
    if (left >= 0)
        snprintf(remaining, sizeof remaining, "%" PRId64, left);
    say(order->number, "ok",
        ", \"fence\": \"%" PRIu64 "\", \"valid\": %s, \"remaining\": %s, \"revoke\": %s, \"lost\": %s, "
        "\"takeovers\": %" PRIu64,
        fencepost_grant_fence(grant), fencepost_grant_is_valid(grant) ? "true" : "false", remaining,
        fencepost_grant_revoke_requested(grant) ? "true" : "false", fencepost_grant_is_lost(grant) ? "true" : "false",
        fencepost_claim_takeovers(grant));
}

static int oldest_first(const void *one, const void *other) {
    const fencepost_contender *const *left = one, *const *right = other;
    return ((*left)->fence > (*right)->fence) - ((*left)->fence < (*right)->fence);
}

/* The header promises no order. This function sorts by fence, the order of the other languages. */
static const fencepost_contender *sorted(const fencepost_contenders *all, size_t at) {
    size_t count = fencepost_contenders_count(all);
    const fencepost_contender **list = calloc(count + 1, sizeof *list), *found = NULL;
    if (list == NULL)
        abort();
    for (size_t i = 0; i < count; i += 1)
        list[i] = fencepost_contenders_at(all, i);
    qsort(list, count, sizeof *list, oldest_first);
    if (at < count)
        found = list[at];
    free(list);
    return found;
}

static void contenders(const command *order, fencepost_lock *lock) {
    char text[TEXT] = "";
    size_t length = 0;
    fencepost_contenders *all = NULL;
    fencepost_result result = fencepost_lock_contenders(lock, &all);
    if (result != FENCEPOST_OK) {
        say_result(order, result);
        return;
    }
    for (size_t i = 0; i < fencepost_contenders_count(all) && length < sizeof text; i += 1) {
        const fencepost_contender *one = sorted(all, i);
        length += (size_t)snprintf(
            text + length, sizeof text - length,
            "%s{\"holds\": %s, \"shared\": %s, \"identifier\": \"%s\", \"fence\": \"%" PRIu64 "\"}", i == 0 ? "" : ", ",
            one->holds ? "true" : "false", one->shared ? "true" : "false", one->identifier, one->fence);
    }
    name_give(FOUND, word(order, 0), all);
    say(order->number, "ok", ", \"contenders\": [%s]", text);
}

static fencepost_result open_client(const command *order) {
    fencepost_client *client = NULL;
    fencepost_result result = fencepost_connect(unquote(order->words[1]), &client);
    if (result == FENCEPOST_OK)
        name_give(CLIENT, word(order, 0), client);
    return result;
}

static fencepost_result open_lock(const command *order) {
    fencepost_lock *lock = NULL;
    fencepost_result result = lock_open(order, name_find(CLIENT, word(order, 1)), &lock);
    if (result == FENCEPOST_OK)
        name_give(LOCK, word(order, 0), lock);
    return result;
}

/* control VERB CLIENT URL */
static fencepost_result control(const command *order, const char *verb) {
    const fencepost_client *client = name_find(CLIENT, word(order, 1));
    fencepost_memory_server *server = NULL;
    fencepost_result result = fencepost_memory_server_open(unquote(order->words[2]), &server);
    if (result != FENCEPOST_OK)
        return result;
    if (strcmp(verb, "expire") == 0)
        result = fencepost_memory_server_expire(server, client);
    else if (strcmp(verb, "suspend") == 0)
        result = fencepost_memory_server_suspend(server, client);
    else if (strcmp(verb, "reconnect") == 0)
        result = fencepost_memory_server_reconnect(server, client);
    else if (strcmp(verb, "pause") == 0)
        result = fencepost_memory_server_pause(server, client);
    else if (strcmp(verb, "resume") == 0)
        result = fencepost_memory_server_resume(server, client);
    else
        result = FENCEPOST_RESULT_BAD_ARGUMENT;
    fencepost_memory_server_free(server);
    return result;
}

void carry_out(const command *order) {
    const char *name = word(order, 0);
    fencepost_grant *grant = name_find(GRANT, name);
    fencepost_lock *lock = name_find(LOCK, name);
    size_t at = strtoul(word(order, 1), NULL, 10);
    if (is(order, "client"))
        say_result(order, open_client(order));
    else if (is(order, "lock"))
        say_result(order, open_lock(order));
    else if (is(order, "acquire") || is(order, "try"))
        finish_acquire(order);
    else if (is(order, "claim") || is(order, "consume"))
        finish_claim(order);
    else if (is(order, "cancel"))
        say_result(order, fencepost_attempt_cancel(name_find(ATTEMPT, name)));
    else if (is(order, "release"))
        say_result(order, fencepost_release(grant));
    else if (is(order, "extend"))
        say_result(order, fencepost_extend(grant));
    else if (is(order, "downgrade"))
        say_result(order, fencepost_downgrade(grant));
    else if (is(order, "look"))
        look(order, grant);
    else if (is(order, "loss"))
        say_result(order, fencepost_grant_wait_lost(grant, FENCEPOST_FOREVER));
    else if (is(order, "revocation"))
        say_result(order, fencepost_grant_wait_revoke_requested(grant, FENCEPOST_FOREVER));
    else if (is(order, "contenders"))
        contenders(order, lock);
    else if (is(order, "revoke"))
        say_result(order, fencepost_lock_revoke(lock, sorted(name_find(FOUND, name), at)));
    else if (is(order, "break"))
        say_result(order, fencepost_lock_break(lock, sorted(name_find(FOUND, name), at)));
    else if (is(order, "control"))
        say_result(order, control(order, name));
    else if (is(order, "close"))
        say_result(order, fencepost_close(name_find(CLIENT, name)));
    else if (is(order, "reset"))
        say_result(order, names_reset());
    else if (!does_operation(order))
        say(order->number, "no-such-command", "");
}
