/* Inspections: they list the contenders of a lock, revoke one, or break one. */
#include <string.h>

#include "internal.h"

struct fencepost_inspection {
    struct pending begun;
};

/* The task of an inspection, and its contender. Without a contender, the inspection lists all contenders. */
struct task {
    const char *action;
    const fencepost_contender *whom;
};

/* Begins an inspection. The caller holds the mutex. */
static fencepost_result open_inspection(fencepost_lock *lock, const void *what, fencepost_grant **opened) {
    const struct task *task = what;
    const char *node = task->whom == NULL || task->whom->node == NULL ? "" : task->whom->node;
    fencepost_lock look = {.client = lock->client};
    fencepost_result result = fencepost_settings_inspection(
        lock->settings, (const uint8_t *)task->action, strlen(task->action), (const uint8_t *)node, strlen(node),
        task->whom == NULL ? 0 : task->whom->fence, &look.settings);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = contender_open(&look, TRY, opened);
    fencepost_settings_free(look.settings);
    return result;
}

/* Returns the result of an inspection, and the contenders that it found, if the caller wants them. The caller holds the
 * mutex. */
static fencepost_result ended(fencepost_grant *contender, fencepost_contenders **contenders) {
    if (contender->stage == ASKING)
        return FENCEPOST_RESULT_PENDING;
    if (contender->result != FENCEPOST_RESULT_OK)
        return contender_fault(contender);
    if (contenders != NULL) {
        *contenders = contender->found;
        contender->found = NULL;
    }
    return FENCEPOST_RESULT_OK;
}

static fencepost_result blocking(fencepost_lock *lock, struct task task, fencepost_contenders **contenders) {
    fencepost_result result = client_enter(lock == NULL ? NULL : lock->client);
    fencepost_grant *contender;
    fencepost_client *client;

    if (result != FENCEPOST_RESULT_OK)
        return result;
    client = lock->client;
    if ((result = client_may_block(client)) == FENCEPOST_RESULT_OK &&
        (result = open_inspection(lock, &task, &contender)) == FENCEPOST_RESULT_OK) {
        contender_wait(contender, contender_decided, FENCEPOST_NEVER);
        result = ended(contender, contenders);
        client_leave(client);
        contender_forget(contender);
        return result;
    }
    client_leave(client);
    return result;
}

static fencepost_result start(fencepost_lock *lock, struct task task, fencepost_inspection **inspection) {
    struct pending *started;
    fencepost_result result;

    if (inspection == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    if ((result = pending_start(lock, open_inspection, &task, &started)) == FENCEPOST_RESULT_OK)
        *inspection = (fencepost_inspection *)started;
    return result;
}

static const struct task list = {"list", NULL};

fencepost_result fencepost_lock_contenders(fencepost_lock *lock, fencepost_contenders **contenders) {
    return contenders == NULL ? fault(FENCEPOST_RESULT_NULL_POINTER, NULL) : blocking(lock, list, contenders);
}

fencepost_result fencepost_lock_break(fencepost_lock *lock, const fencepost_contender *contender) {
    struct task task = {"break", contender};

    return contender == NULL ? fault(FENCEPOST_RESULT_NULL_POINTER, NULL) : blocking(lock, task, NULL);
}

fencepost_result fencepost_lock_revoke(fencepost_lock *lock, const fencepost_contender *contender) {
    struct task task = {"revoke", contender};

    return contender == NULL ? fault(FENCEPOST_RESULT_NULL_POINTER, NULL) : blocking(lock, task, NULL);
}

fencepost_result fencepost_lock_contenders_start(fencepost_lock *lock, fencepost_inspection **inspection) {
    return start(lock, list, inspection);
}

fencepost_result fencepost_lock_break_start(
    fencepost_lock *lock, const fencepost_contender *contender, fencepost_inspection **inspection) {
    struct task task = {"break", contender};

    return contender == NULL ? fault(FENCEPOST_RESULT_NULL_POINTER, NULL) : start(lock, task, inspection);
}

fencepost_result fencepost_lock_revoke_start(
    fencepost_lock *lock, const fencepost_contender *contender, fencepost_inspection **inspection) {
    struct task task = {"revoke", contender};

    return contender == NULL ? fault(FENCEPOST_RESULT_NULL_POINTER, NULL) : start(lock, task, inspection);
}

fencepost_result fencepost_inspection_finish(fencepost_inspection *inspection, fencepost_contenders **contenders) {
    fencepost_result result = client_enter(inspection == NULL ? NULL : inspection->begun.client);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = ended(inspection->begun.contender, contenders);
    client_leave(inspection->begun.client);
    return result;
}

void fencepost_inspection_free(fencepost_inspection *inspection) {
    pending_free((struct pending *)inspection);
}
