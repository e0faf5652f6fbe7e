/* The options of the idempotent operations of one scope. */
#include <stddef.h>
#include <stdlib.h>

#include "internal.h"

/* The server, the prefix, the scope, and seven options. */
#define MOST_SETTINGS 10

/* Settings while the client gathers them. If a member is zero, the default of the option applies. */
struct gathered {
    fencepost_setting settings[MOST_SETTINGS];
    size_t count;
};

static fencepost_setting *add(struct gathered *all, const char *key, fencepost_value_kind value) {
    fencepost_setting *setting = &all->settings[all->count++];

    memset(setting, 0, sizeof *setting);
    setting->key = view_of(key);
    setting->value = value;
    return setting;
}

static void add_millis(struct gathered *all, const char *key, int64_t millis) {
    if (millis != 0)
        add(all, key, FENCEPOST_VALUE_KIND_NUMBER)->number = micros_of(millis);
}

/* Copies the options into this library's version of the structure. The program may have been built with another version
 * of the header. */
static fencepost_result take(const fencepost_idempotency_options *given, fencepost_idempotency_options *options) {
    static const uint8_t zero[sizeof options->reserved];
    const uint8_t *bytes = (const uint8_t *)given;
    size_t i;

    memset(options, 0, sizeof *options);
    if (given == NULL)
        return FENCEPOST_RESULT_OK;
    if (given->size < sizeof given->size)
        return fault(
            FENCEPOST_RESULT_BAD_ARGUMENT,
            "the options do not say their size: write FENCEPOST_IDEMPOTENCY_OPTIONS(...), or set size to "
            "sizeof(fencepost_idempotency_options)");
    for (i = sizeof *options; i < given->size; i++) {
        if (bytes[i] != 0)
            return fault(
                FENCEPOST_RESULT_UNKNOWN_OPTION,
                "an option is newer than this libfencepost-client: use a newer library");
    }
    memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
    if (memcmp(options->reserved, zero, sizeof zero) != 0)
        return fault(
            FENCEPOST_RESULT_UNKNOWN_OPTION,
            "an option is newer than this libfencepost-client, or the options were not set to zero: write "
            "FENCEPOST_IDEMPOTENCY_OPTIONS(...)");
    if (options->on_lease_end != 0 && fencepost_policy_name(options->on_lease_end) == NULL)
        return fault(
            FENCEPOST_RESULT_INVALID_OPTION, "on_lease_end is %d: use a fencepost_policy", (int)options->on_lease_end);
    return FENCEPOST_RESULT_OK;
}

static fencepost_result check(
    const fencepost_client *client, const char *scope, const fencepost_idempotency_options *given,
    fencepost_scope **checked) {
    struct gathered all = {.count = 0};
    fencepost_idempotency_options options;
    fencepost_result result = take(given, &options);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    add(&all, "server", FENCEPOST_VALUE_KIND_TEXT)->text = view_of(client->locks->server);
    add(&all, "scope", FENCEPOST_VALUE_KIND_TEXT)->text = view_of(scope);
    if (client->locks->prefix != NULL && client->locks->prefix[0] != '\0')
        add(&all, "prefix", FENCEPOST_VALUE_KIND_TEXT)->text = view_of(client->locks->prefix);
    add_millis(&all, "lease", options.lease);
    add_millis(&all, "retention", options.retention);
    add_millis(&all, "margin", options.margin);
    add_millis(&all, "poll", options.poll);
    add_millis(&all, "answer_within", options.answer_within);
    if (options.on_lease_end != 0)
        add(&all, "on_lease_end", FENCEPOST_VALUE_KIND_TEXT)->text =
            view_of(fencepost_policy_name(options.on_lease_end));
    if (options.without_renewal)
        add(&all, "renew", FENCEPOST_VALUE_KIND_SWITCH);
    return fencepost_scope_of(all.settings, all.count, checked);
}

static fencepost_result make(
    fencepost_client *client, const char *scope, const fencepost_idempotency_options *options,
    fencepost_idempotency **idempotency) {
    fencepost_idempotency *made;
    fencepost_result result;

    if (scope == NULL || idempotency == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    if ((made = calloc(1, sizeof *made)) == NULL)
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    if ((result = check(client, scope, options, &made->scope)) != FENCEPOST_RESULT_OK) {
        free(made);
        return result;
    }
    made->client = client;
    made->references = 1;
    fencepost_client_ref(client);
    *idempotency = made;
    return FENCEPOST_RESULT_OK;
}

fencepost_result fencepost_idempotency_open(
    fencepost_client *client, const char *scope, const fencepost_idempotency_options *options,
    fencepost_idempotency **idempotency) {
    fencepost_result result = client_enter(client);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = make(client, scope, options, idempotency);
    client_unlock(client);
    return result;
}

fencepost_idempotency *idempotency_ref(fencepost_idempotency *idempotency) {
    __atomic_add_fetch(&idempotency->references, 1, __ATOMIC_RELAXED);
    return idempotency;
}

void idempotency_unref(fencepost_idempotency *idempotency) {
    if (__atomic_sub_fetch(&idempotency->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    fencepost_scope_free(idempotency->scope);
    fencepost_client_unref(idempotency->client);
    free(idempotency);
}

void fencepost_idempotency_free(fencepost_idempotency *idempotency) {
    if (idempotency != NULL && IS_OURS(idempotency->client))
        idempotency_unref(idempotency);
}
