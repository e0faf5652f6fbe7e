/* Single steps: one request for an operation or a value, without a claim. */
#include "internal.h"

struct fencepost_step {
    struct pending begun;
};

static fencepost_result open_step(fencepost_lock *lock, const void *nothing, fencepost_grant **opened) {
    (void)nothing;
    return contender_open(lock, TRY, opened);
}

/* Returns the result of a step, and the record if the caller wants it. The caller holds the mutex. */
static fencepost_result ended(fencepost_grant *contender, fencepost_record **record) {
    fencepost_result result = contender->result;

    if (contender->stage == ASKING)
        return FENCEPOST_RESULT_PENDING;
    if (result != FENCEPOST_RESULT_OK && result != FENCEPOST_RESULT_REPLAYED)
        result = contender_fault(contender);
    if (record != NULL &&
        (result == FENCEPOST_RESULT_OK || result == FENCEPOST_RESULT_REPLAYED || result == FENCEPOST_RESULT_CONFLICT)) {
        *record = contender->record;
        contender->record = NULL;
    }
    return result;
}

static fencepost_result take_record(fencepost_grant *contender, void *record) {
    return ended(contender, record);
}

static fencepost_result take_deleted(fencepost_grant *contender, void *deleted) {
    fencepost_result result = ended(contender, NULL);

    if (result == FENCEPOST_RESULT_OK && deleted != NULL)
        *(uint64_t *)deleted = contender->deleted;
    return result;
}

/* Does the step with these settings, and frees them. `made` is the result of making the settings; `take` writes the
 * result to `into`. */
static fencepost_result run_for(
    fencepost_idempotency *of, fencepost_result made, fencepost_settings *settings,
    fencepost_result (*take)(fencepost_grant *, void *), void *into) {
    fencepost_lock lock = {.client = of == NULL ? NULL : of->client, .settings = settings};
    fencepost_grant *contender = NULL;
    fencepost_result result = made;

    if (made != FENCEPOST_RESULT_OK)
        return made;
    if ((result = client_enter(lock.client)) == FENCEPOST_RESULT_OK) {
        if ((result = client_may_block(lock.client)) == FENCEPOST_RESULT_OK &&
            (result = open_step(&lock, NULL, &contender)) == FENCEPOST_RESULT_OK) {
            contender_wait(contender, contender_decided, FENCEPOST_NEVER);
            result = take(contender, into);
        }
        client_leave(lock.client);
    }
    if (contender != NULL)
        contender_forget(contender);
    fencepost_settings_free(settings);
    return result;
}

static fencepost_result
run(fencepost_idempotency *of, fencepost_result made, fencepost_settings *settings, fencepost_record **record) {
    return run_for(of, made, settings, take_record, record);
}

static fencepost_result
start(fencepost_idempotency *of, fencepost_result made, fencepost_settings *settings, fencepost_step **step) {
    fencepost_lock lock = {.client = of == NULL ? NULL : of->client, .settings = settings};
    fencepost_result result = FENCEPOST_RESULT_NULL_POINTER;
    struct pending *started;

    if (made != FENCEPOST_RESULT_OK)
        return made;
    if (step == NULL)
        fault(result, NULL);
    else if ((result = pending_start(&lock, open_step, NULL, &started)) == FENCEPOST_RESULT_OK)
        *step = (fencepost_step *)started;
    fencepost_settings_free(settings);
    return result;
}

static fencepost_result finish(fencepost_step *step, fencepost_result (*take)(fencepost_grant *, void *), void *into) {
    fencepost_result result = client_enter(step == NULL ? NULL : step->begun.client);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = take(step->begun.contender, into);
    client_leave(step->begun.client);
    return result;
}

fencepost_result fencepost_step_finish(fencepost_step *step, fencepost_record **record) {
    return finish(step, take_record, record);
}

void fencepost_step_free(fencepost_step *step) {
    pending_free((struct pending *)step);
}

static bool lacks(const fencepost_idempotency *of, const char *key) {
    if (of != NULL && key != NULL)
        return false;
    fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    return true;
}

/* ---- issue ---- */

static fencepost_result issue(
    fencepost_idempotency *of, const char *token, const void *binding, size_t binding_size, int64_t life,
    fencepost_settings **settings) {
    fencepost_view name = view_of(token);

    if (lacks(of, token))
        return FENCEPOST_RESULT_NULL_POINTER;
    return fencepost_scope_issue(of->scope, name.data, name.size, binding, binding_size, micros_of(life), settings);
}

fencepost_result fencepost_issue(
    fencepost_idempotency *idempotency, const char *token, const void *binding, size_t binding_size, int64_t life) {
    fencepost_settings *settings = NULL;
    fencepost_result made = issue(idempotency, token, binding, binding_size, life, &settings);

    return run(idempotency, made, settings, NULL);
}

fencepost_result fencepost_issue_start(
    fencepost_idempotency *idempotency, const char *token, const void *binding, size_t binding_size, int64_t life,
    fencepost_step **step) {
    fencepost_settings *settings = NULL;
    fencepost_result made = issue(idempotency, token, binding, binding_size, life, &settings);

    return start(idempotency, made, settings, step);
}

/* ---- register ---- */

static fencepost_result enrol(
    fencepost_idempotency *of, const char *key, const void *binding, size_t binding_size, const void *fingerprint,
    size_t fingerprint_size, const char *tag, const void *bytes, size_t size, fencepost_settings **settings) {
    fencepost_view name = view_of(key), what = view_of(tag);

    if (lacks(of, key))
        return FENCEPOST_RESULT_NULL_POINTER;
    return fencepost_scope_register(
        of->scope, name.data, name.size, binding, binding_size, fingerprint, fingerprint_size, what.data, what.size,
        bytes, size, settings);
}

fencepost_result fencepost_register(
    fencepost_idempotency *idempotency, const char *key, const void *binding, size_t binding_size,
    const void *fingerprint, size_t fingerprint_size, const char *tag, const void *bytes, size_t size,
    fencepost_record **record) {
    fencepost_settings *settings = NULL;
    fencepost_result made =
        enrol(idempotency, key, binding, binding_size, fingerprint, fingerprint_size, tag, bytes, size, &settings);

    return run(idempotency, made, settings, record);
}

fencepost_result fencepost_register_start(
    fencepost_idempotency *idempotency, const char *key, const void *binding, size_t binding_size,
    const void *fingerprint, size_t fingerprint_size, const char *tag, const void *bytes, size_t size,
    fencepost_step **step) {
    fencepost_settings *settings = NULL;
    fencepost_result made =
        enrol(idempotency, key, binding, binding_size, fingerprint, fingerprint_size, tag, bytes, size, &settings);

    return start(idempotency, made, settings, step);
}

/* ---- update ---- */

static fencepost_result update(
    fencepost_idempotency *of, const char *key, const char *operation, uint64_t version, const void *fingerprint,
    size_t fingerprint_size, const char *tag, const void *bytes, size_t size, fencepost_settings **settings) {
    fencepost_view name = view_of(key), id = view_of(operation), what = view_of(tag);

    if (lacks(of, key) || lacks(of, operation))
        return FENCEPOST_RESULT_NULL_POINTER;
    return fencepost_scope_update(
        of->scope, name.data, name.size, id.data, id.size, version, fingerprint, fingerprint_size, what.data, what.size,
        bytes, size, settings);
}

fencepost_result fencepost_update(
    fencepost_idempotency *idempotency, const char *key, const char *operation, uint64_t version,
    const void *fingerprint, size_t fingerprint_size, const char *tag, const void *bytes, size_t size,
    fencepost_record **record) {
    fencepost_settings *settings = NULL;
    fencepost_result made =
        update(idempotency, key, operation, version, fingerprint, fingerprint_size, tag, bytes, size, &settings);

    return run(idempotency, made, settings, record);
}

fencepost_result fencepost_update_start(
    fencepost_idempotency *idempotency, const char *key, const char *operation, uint64_t version,
    const void *fingerprint, size_t fingerprint_size, const char *tag, const void *bytes, size_t size,
    fencepost_step **step) {
    fencepost_settings *settings = NULL;
    fencepost_result made =
        update(idempotency, key, operation, version, fingerprint, fingerprint_size, tag, bytes, size, &settings);

    return start(idempotency, made, settings, step);
}

/* ---- for operators: look, settle, forget ---- */

static fencepost_result look(fencepost_idempotency *of, const char *key, fencepost_settings **settings) {
    fencepost_view name = view_of(key);

    if (lacks(of, key))
        return FENCEPOST_RESULT_NULL_POINTER;
    return fencepost_scope_look(of->scope, name.data, name.size, settings);
}

fencepost_result fencepost_look(fencepost_idempotency *idempotency, const char *key, fencepost_record **record) {
    fencepost_settings *settings = NULL;
    fencepost_result made = look(idempotency, key, &settings);

    return run(idempotency, made, settings, record);
}

fencepost_result fencepost_look_start(fencepost_idempotency *idempotency, const char *key, fencepost_step **step) {
    fencepost_settings *settings = NULL;
    fencepost_result made = look(idempotency, key, &settings);

    return start(idempotency, made, settings, step);
}

static fencepost_result settle(
    fencepost_idempotency *of, const char *key, uint64_t guard, const char *tag, const void *bytes, size_t size,
    fencepost_settings **settings) {
    fencepost_view name = view_of(key), what = view_of(tag);

    if (lacks(of, key))
        return FENCEPOST_RESULT_NULL_POINTER;
    return fencepost_scope_settle(of->scope, name.data, name.size, guard, what.data, what.size, bytes, size, settings);
}

fencepost_result fencepost_settle(
    fencepost_idempotency *idempotency, const char *key, uint64_t guard, const char *tag, const void *bytes,
    size_t size) {
    fencepost_settings *settings = NULL;
    fencepost_result made = settle(idempotency, key, guard, tag, bytes, size, &settings);

    return run(idempotency, made, settings, NULL);
}

fencepost_result fencepost_settle_start(
    fencepost_idempotency *idempotency, const char *key, uint64_t guard, const char *tag, const void *bytes,
    size_t size, fencepost_step **step) {
    fencepost_settings *settings = NULL;
    fencepost_result made = settle(idempotency, key, guard, tag, bytes, size, &settings);

    return start(idempotency, made, settings, step);
}

static fencepost_result
forget(fencepost_idempotency *of, const char *key, uint64_t guard, fencepost_settings **settings) {
    fencepost_view name = view_of(key);

    if (lacks(of, key))
        return FENCEPOST_RESULT_NULL_POINTER;
    return fencepost_scope_forget(of->scope, name.data, name.size, guard, settings);
}

fencepost_result fencepost_forget(fencepost_idempotency *idempotency, const char *key, uint64_t guard) {
    fencepost_settings *settings = NULL;
    fencepost_result made = forget(idempotency, key, guard, &settings);

    return run(idempotency, made, settings, NULL);
}

fencepost_result
fencepost_forget_start(fencepost_idempotency *idempotency, const char *key, uint64_t guard, fencepost_step **step) {
    fencepost_settings *settings = NULL;
    fencepost_result made = forget(idempotency, key, guard, &settings);

    return start(idempotency, made, settings, step);
}

/* ---- sweep ---- */

static fencepost_result sweep(fencepost_idempotency *of, fencepost_settings **settings) {
    if (lacks(of, ""))
        return FENCEPOST_RESULT_NULL_POINTER;
    return fencepost_scope_sweep(of->scope, settings);
}

fencepost_result fencepost_sweep(fencepost_idempotency *idempotency, uint64_t *deleted) {
    fencepost_settings *settings = NULL;
    fencepost_result made = sweep(idempotency, &settings);

    return run_for(idempotency, made, settings, take_deleted, deleted);
}

fencepost_result fencepost_sweep_start(fencepost_idempotency *idempotency, fencepost_step **step) {
    fencepost_settings *settings = NULL;
    fencepost_result made = sweep(idempotency, &settings);

    return start(idempotency, made, settings, step);
}

fencepost_result fencepost_sweep_finish(fencepost_step *step, uint64_t *deleted) {
    return finish(step, take_deleted, deleted);
}
