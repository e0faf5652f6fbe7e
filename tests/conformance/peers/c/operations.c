/* The commands on operations, and their answers. */

#define _POSIX_C_SOURCE 200809L

#include "peer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct octets {
    unsigned char *bytes;
    size_t size;
} octets;

static void *checked(void *memory) {
    if (memory == NULL)
        abort();
    return memory;
}

/* The bytes of a word: `00ff`, or `00ff*1000`. */
static octets octets_of(const char *word) {
    const char *times = strchr(word, '*');
    size_t once = (times == NULL ? strlen(word) : (size_t)(times - word)) / 2;
    octets all = {NULL, once * (times == NULL ? 1 : strtoul(times + 1, NULL, 10))};
    all.bytes = checked(malloc(all.size + 1));
    for (size_t i = 0; i < all.size; i += 1) {
        char digits[3] = {word[2 * (i % once)], word[2 * (i % once) + 1], '\0'};
        all.bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    return all;
}

static char *hexadecimal(const void *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    char *text = checked(malloc(2 * size + 1));
    for (size_t i = 0; i < size; i += 1) {
        unsigned char byte = ((const unsigned char *)bytes)[i];
        text[2 * i] = digits[byte >> 4];
        text[2 * i + 1] = digits[byte & 15];
    }
    text[2 * size] = '\0';
    return text;
}

static char *word(const command *order, int at) {
    static char nothing[1];
    return at < order->count ? order->words[at] : nothing;
}

static char *text_option(const command *order, const char *name) {
    char *value = option(order, name);
    return value == NULL ? NULL : unquote(value);
}

static int64_t millis_option(const command *order, const char *name) {
    const char *value = option(order, name);
    return value == NULL ? 0 : strtoll(value, NULL, 10);
}

static bool is(const command *order, const char *verb) {
    return strcmp(order->verb, verb) == 0;
}

static fencepost_result open_scope(const command *order) {
    static const struct {
        const char *name;
        fencepost_policy policy;
    } policies[] = {
        {"retake", FENCEPOST_POLICY_RETAKE},
        {"block", FENCEPOST_POLICY_BLOCK},
        {"indeterminate", FENCEPOST_POLICY_INDETERMINATE},
    };
    fencepost_idempotency_options options = {.size = sizeof options};
    fencepost_idempotency *scope = NULL;
    const char *policy = option(order, "on_lease_end"), *renew = option(order, "renew"), *tag = option(order, "tag");
    options.lease = millis_option(order, "lease");
    options.retention = millis_option(order, "retention");
    options.margin = millis_option(order, "margin");
    options.poll = millis_option(order, "poll");
    options.answer_within = millis_option(order, "answer_within");
    options.without_renewal = renew != NULL && strcmp(renew, "false") == 0;
    for (size_t i = 0; policy != NULL && i < sizeof policies / sizeof *policies; i += 1) {
        if (strcmp(policies[i].name, policy) == 0)
            options.on_lease_end = policies[i].policy;
    }
    fencepost_result result =
        fencepost_idempotency_open(name_find(CLIENT, word(order, 1)), unquote(word(order, 2)), &options, &scope);
    if (result == FENCEPOST_OK) {
        name_give(SCOPE, word(order, 0), scope);
        name_give(TAG, word(order, 0), checked(strdup(tag == NULL ? "bytes" : tag)));
    }
    return result;
}

fencepost_result claim_start(const command *order, fencepost_attempt **attempt) {
    fencepost_idempotency *scope = name_find(SCOPE, word(order, 1));
    const char *key = unquote(word(order, 2)), *given = text_option(order, "fingerprint");
    const char *print = given == NULL ? "" : given, *wait = option(order, "wait");
    int64_t timeout = option(order, "timeout") == NULL ? FENCEPOST_FOREVER : millis_option(order, "timeout");
    if (wait != NULL && strcmp(wait, "false") == 0)
        timeout = 0;
    if (is(order, "claim"))
        return fencepost_claim_start(scope, key, print, strlen(print), timeout, attempt);
    const char *binding = unquote(word(order, 3));
    return fencepost_consume_start(scope, key, binding, strlen(binding), print, strlen(print), timeout, attempt);
}

static void say_replayed(const command *order, const char *tag, const void *bytes, size_t size) {
    char *result = hexadecimal(bytes, size);
    say(order->number, "replayed", ", \"result\": \"%s\", \"tag\": \"%s\"", result, tag);
    free(result);
}

static void say_claim_replayed(const command *order, const fencepost_grant *claim) {
    const void *bytes = NULL;
    size_t size = 0;
    fencepost_result result = fencepost_claim_result(claim, &bytes, &size);
    if (result == FENCEPOST_OK)
        say_replayed(order, fencepost_claim_tag(claim), bytes, size);
    else
        say_result(order, result);
}

/* Call this directly after the refused call, because it reads the last retry_after. */
static void say_in_progress(const command *order) {
    int64_t left = fencepost_retry_after();
    if (left < 0)
        say(order->number, "in-progress", ", \"retry_after\": null");
    else
        say(order->number, "in-progress", ", \"retry_after\": %" PRId64, left);
}

void finish_claim(const command *order) {
    fencepost_grant *claim = NULL;
    fencepost_result result = fencepost_attempt_wait(name_find(ATTEMPT, word(order, 0)), &claim);
    if (result == FENCEPOST_OK || result == FENCEPOST_REPLAYED) {
        const char *tag = name_find(TAG, word(order, 1));
        name_give(GRANT, word(order, 0), claim);
        name_give(TAG, word(order, 0), checked(strdup(tag)));
    }
    if (result == FENCEPOST_OK)
        say(order->number, "claimed", ", \"fence\": \"%" PRIu64 "\", \"takeovers\": %" PRIu64,
            fencepost_claim_fence(claim), fencepost_claim_takeovers(claim));
    else if (result == FENCEPOST_REPLAYED)
        say_claim_replayed(order, claim);
    else if (result == FENCEPOST_RESULT_IN_PROGRESS)
        say_in_progress(order);
    else
        say_result(order, result);
}

static void complete(const command *order) {
    const char *name = word(order, 0);
    fencepost_grant *claim = name_find(GRANT, name);
    octets given = octets_of(word(order, 1));
    fencepost_result result = fencepost_complete_with(claim, name_find(TAG, name), given.bytes, given.size);
    if (result == FENCEPOST_REPLAYED)
        say_claim_replayed(order, claim);
    else
        say_result(order, result);
    free(given.bytes);
}

static void derive(const command *order, const char *step) {
    char derived[FENCEPOST_DERIVED_SIZE];
    fencepost_result result = fencepost_claim_derive(name_find(GRANT, word(order, 0)), step, derived);
    if (result == FENCEPOST_OK)
        say(order->number, "ok", ", \"derived\": \"%s\"", derived);
    else
        say_result(order, result);
}

static void say_record(const command *order, const char *answer, const fencepost_record *record) {
    char *result = hexadecimal(record->result.data, record->result.size);
    say(order->number, answer,
        ", \"state\": \"%s\", \"takeovers\": %" PRIu64 ", \"policy\": \"%s\", \"version\": %" PRIu64
        ", \"tag\": \"%s\", \"result\": \"%s\"",
        fencepost_record_state_name(record->state), record->takeovers, fencepost_policy_name(record->policy),
        record->version, record->tag.data, result);
    free(result);
}

/* Prints the result of a step. The caller owns the record. */
static void say_step(const command *order, fencepost_result result, const fencepost_record *record) {
    bool replayed = result == FENCEPOST_REPLAYED;
    if (is(order, "update") && record != NULL && (replayed || result == FENCEPOST_OK))
        say(order->number, replayed ? "replayed" : "ok", ", \"version\": %" PRIu64, record->version);
    else if (replayed && record != NULL)
        say_replayed(order, (const char *)record->tag.data, record->result.data, record->result.size);
    else if (record != NULL && (result == FENCEPOST_RESULT_CONFLICT || is(order, "record")))
        say_record(order, result == FENCEPOST_OK ? "ok" : fencepost_result_name(result), record);
    else if (result == FENCEPOST_RESULT_IN_PROGRESS)
        say_in_progress(order);
    else if (result == FENCEPOST_OK && is(order, "record"))
        say(order->number, "none", "");
    else
        say_result(order, result);
}

bool does_operation(const command *order) {
    const char *name = word(order, 0), *key = unquote(word(order, 1)), *print = text_option(order, "fingerprint");
    fencepost_idempotency *scope = name_find(SCOPE, name);
    const char *tag = name_find(TAG, name), *binding = text_option(order, "binding");
    const fencepost_record *seen = name_find(RECORD, key);
    size_t print_size = print == NULL ? 0 : strlen(print), binding_size = binding == NULL ? 0 : strlen(binding);
    fencepost_record *record = NULL;
    octets given = octets_of(word(order, is(order, "update") ? 4 : 2));
    bool known = true;
    if (is(order, "scope")) {
        say_result(order, open_scope(order));
    } else if (is(order, "complete")) {
        complete(order);
    } else if (is(order, "leave")) {
        say_result(order, fencepost_leave(name_find(GRANT, name)));
    } else if (is(order, "derive")) {
        derive(order, key);
    } else if (is(order, "drop")) {
        fencepost_grant_free(name_take(GRANT, name));
        say(order->number, "ok", "");
    } else if (is(order, "effect")) {
        effect(unquote(word(order, 2)), key, name_find(GRANT, name));
        say(order->number, "ok", "");
    } else if (is(order, "work")) {
        work(order);
    } else if (is(order, "issue")) {
        const char *whose = unquote(word(order, 2));
        say_result(order, fencepost_issue(scope, key, whose, strlen(whose), millis_option(order, "life")));
    } else if (is(order, "register")) {
        fencepost_result result = fencepost_register(
            scope, key, binding, binding_size, print, print_size, tag, given.bytes, given.size, &record);
        say_step(order, result, record);
    } else if (is(order, "update")) {
        fencepost_result result = fencepost_update(
            scope, key, unquote(word(order, 2)), strtoull(word(order, 3), NULL, 10), print, print_size, tag,
            given.bytes, given.size, &record);
        say_step(order, result, record);
    } else if (is(order, "record")) {
        fencepost_result result = fencepost_look(scope, key, &record);
        /* Before the answer is printed, because the next command may need the record. */
        if (record != NULL)
            name_give(RECORD, key, record);
        say_step(order, result, record);
        record = NULL;
    } else if (is(order, "settle")) {
        say_result(order, fencepost_settle(scope, key, seen->guard, tag, given.bytes, given.size));
    } else if (is(order, "forget")) {
        say_result(order, fencepost_forget(scope, key, seen->guard));
    } else {
        known = false;
    }
    fencepost_record_free(record);
    free(given.bytes);
    return known;
}
