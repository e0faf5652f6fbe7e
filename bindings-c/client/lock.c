/* Locks: a name with settings. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define KEY(text) (const uint8_t *)(text), sizeof(text) - 1

/* The caller holds the mutex. */
fencepost_result
lock_new(fencepost_client *client, const char *name, const fencepost_options *options, fencepost_lock **lock) {
    fencepost_lock *made;
    fencepost_result result;

    if (lock == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    if ((made = calloc(1, sizeof *made)) == NULL)
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    if ((result = options_check(client, name, options, made)) != FENCEPOST_RESULT_OK) {
        free(made->owned);
        free(made);
        return result;
    }
    made->client = client;
    fencepost_client_ref(client);
    *lock = made;
    return FENCEPOST_RESULT_OK;
}

fencepost_result fencepost_lock_open(
    fencepost_client *client, const char *name, const fencepost_options *options, fencepost_lock **lock) {
    fencepost_result result = client_enter(client);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = lock_new(client, name, options, lock);
    client_unlock(client);
    return result;
}

fencepost_result fencepost_lock_new(fencepost_client *client, const char *name, fencepost_lock **lock) {
    return fencepost_lock_open(client, name, NULL, lock);
}

void fencepost_lock_free(fencepost_lock *lock) {
    if (lock == NULL || !IS_OURS(lock->client))
        return;
    fencepost_settings_free(lock->settings);
    free(lock->owned);
    fencepost_client_unref(lock->client);
    free(lock);
}

static fencepost_result set_millis(fencepost_lock *lock, const char *key, int64_t millis) {
    fencepost_result result = client_enter(lock == NULL ? NULL : lock->client);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = fencepost_settings_set_micros(lock->settings, (const uint8_t *)key, strlen(key), micros_of(millis));
    client_unlock(lock->client);
    return result;
}

fencepost_result fencepost_lock_set_ttl(fencepost_lock *lock, int64_t ttl) {
    return set_millis(lock, "ttl", ttl);
}

fencepost_result fencepost_lock_set_max_hold(fencepost_lock *lock, int64_t max_hold) {
    return set_millis(lock, "max_hold", max_hold);
}

fencepost_result fencepost_lock_set_renew(fencepost_lock *lock, bool renew) {
    fencepost_result result = client_enter(lock == NULL ? NULL : lock->client);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = fencepost_settings_set_switch(lock->settings, KEY("renew"), renew);
    client_unlock(lock->client);
    return result;
}
