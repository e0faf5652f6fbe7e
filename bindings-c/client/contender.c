/* Contenders: one for each acquire, from its beginning to the end of its grant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Says in words why it ended: what the hub says, and what the client library said of the command that it was. */
static void describe(fencepost_grant *contender, const fencepost_event *event) {
    const struct note *note = NULL;
    int i;

    for (i = 0; i < NOTES && event->cause_command != 0; i++) {
        if (contender->client->notes[i].command == event->cause_command)
            note = &contender->client->notes[i];
    }
    snprintf(
        contender->detail, sizeof contender->detail, "%s%s%.*s%s%s", fencepost_result_text((int32_t)event->reason),
        event->detail.size > 0 ? ": " : "", (int)event->detail.size, (const char *)event->detail.data,
        note != NULL ? ": " : "", note != NULL ? note->text : "");
}

/* It has come to its end: the hub's machine goes when the server has answered. */
static void end(fencepost_grant *contender, fencepost_result result) {
    fencepost_client *client = contender->client;

    if (contender->stage == ASKING)
        client->asking--;
    contender->stage = OVER;
    contender->result = result;
    table_remove(&client->contenders, contender->key);
    fencepost_hub_close(client->hub, fencepost_now(), contender->key);
}

void contender_event(fencepost_client *client, uint64_t key, const fencepost_event *event) {
    fencepost_grant *contender = table_find(&client->contenders, key);

    if (contender == NULL)
        return;
    switch (event->kind) {
    case FENCEPOST_EVENT_KIND_QUEUED:
        contender->ahead = event->has_ahead ? (int64_t)event->ahead : -1;
        break;
    case FENCEPOST_EVENT_KIND_ACQUIRED:
        client->asking--;
        contender->stage = HELD;
        contender->has_fence = event->has_fence;
        contender->fence = event->fence;
        contender->valid_until = event->valid_until;
        break;
    case FENCEPOST_EVENT_KIND_EXTENDED:
        if (contender->stage == EXTENDING)
            contender->stage = HELD;
        contender->valid_until = event->valid_until;
        break;
    case FENCEPOST_EVENT_KIND_SUSPENDED:
        contender->suspended = true;
        break;
    case FENCEPOST_EVENT_KIND_RESUMED:
        contender->suspended = false;
        contender->valid_until = event->valid_until;
        break;
    case FENCEPOST_EVENT_KIND_LOST:
        contender->lost = true;
        describe(contender, event);
        end(contender, event->reason);
        break;
    case FENCEPOST_EVENT_KIND_REFUSED:
        describe(contender, event);
        end(contender, event->reason);
        break;
    case FENCEPOST_EVENT_KIND_RELEASED:
        end(contender, FENCEPOST_RESULT_OK);
        break;
    }
}

/* Opens a contender and begins its acquire. With the lock. */
fencepost_result contender_open(fencepost_lock *lock, int64_t patience, fencepost_grant **contender) {
    fencepost_client *client = lock->client;
    uint64_t now = fencepost_now();
    fencepost_grant *opened;
    fencepost_result result;
    uint8_t owner[16];

    if ((result = random_owner(owner)) != FENCEPOST_RESULT_OK)
        return result;
    if ((opened = calloc(1, sizeof *opened)) == NULL)
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    opened->client = client;
    opened->ahead = -1;
    result = fencepost_hub_open(client->hub, now, lock->settings, owner, random_number(), &opened->key);
    if (result != FENCEPOST_RESULT_OK) {
        free(opened);
        return result;
    }
    if (!table_add(&client->contenders, opened))
        result = fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    else if (patience == TRY)
        result = fencepost_hub_try_acquire(client->hub, now, opened->key);
    else
        result = fencepost_hub_acquire(client->hub, now, opened->key, patience);
    if (result != FENCEPOST_RESULT_OK) {
        table_remove(&client->contenders, opened->key);
        fencepost_hub_close(client->hub, now, opened->key);
        free(opened);
        return result;
    }
    client->asking++;
    fencepost_client_ref(client);
    *contender = opened;
    return FENCEPOST_RESULT_OK;
}

/* Its client is being closed. */
void contender_closed(fencepost_grant *contender) {
    snprintf(contender->detail, sizeof contender->detail, "%s", fencepost_result_text(FENCEPOST_RESULT_CLIENT_CLOSED));
    end(contender, FENCEPOST_RESULT_CLIENT_CLOSED);
}

/* Gives it up, and what it stands for. Takes the lock. */
void contender_free(fencepost_grant *contender) {
    fencepost_client *client = contender->client;

    pthread_mutex_lock(&client->mutex);
    if (contender->stage != OVER)
        end(contender, FENCEPOST_RESULT_OK);
    client_leave(client);
    free(contender);
    fencepost_client_unref(client);
}

/* Why it ended, in number and words. */
fencepost_result contender_fault(const fencepost_grant *contender) {
    return fault(contender->result, "%s", contender->detail);
}

bool contender_decided(const void *subject) {
    return ((const fencepost_grant *)subject)->stage != ASKING;
}

bool contender_over(const void *subject) {
    return ((const fencepost_grant *)subject)->stage == OVER;
}

bool contender_extended(const void *subject) {
    return ((const fencepost_grant *)subject)->stage != EXTENDING;
}
