/* Contenders: one for each acquire, from its beginning to the end of its grant. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Writes a text about an event: the hub's detail, and what the client library reported about the command. */
static void describe(const fencepost_grant *contender, const fencepost_event *event, char **written) {
    const char *noted = client_noted(contender->client, event->cause_command);
    char text[512];

    snprintf(
        text, sizeof text, "%s%s%.*s%s%s%s", fencepost_result_text((int32_t)event->reason),
        event->has_detail ? ": " : "", (int)event->detail.size, (const char *)event->detail.data,
        noted != NULL ? ": " : "", noted != NULL ? noted : "",
        event->kind == FENCEPOST_EVENT_KIND_LOST && contender->client->background_missing
            ? ": the operating system gives no thread, so nothing renews between calls"
            : "");
    free(*written);
    *written = strdup(text); /* without memory, the text is that of the result */
}

/* Ends a contender. The caller closes its key later. */
static void finish(fencepost_grant *contender, fencepost_result result) {
    fencepost_client *client = contender->client;

    if (contender->stage == ASKING)
        client->asking--;
    deadlines_forget(contender);
    contender->stage = OVER;
    contender->result = result;
    client_changed(client, contender->waiters);
    table_remove(&client->locks->contenders, contender->key);
}

static void forget_watches(fencepost_client *client, uint64_t key) {
    if (client->driver->forget != NULL)
        client->driver->forget(client->self, key);
}

static void close_key(fencepost_client *client, uint64_t key) {
    uint64_t unused = 0;

    fencepost_hub_close(client->hub, fencepost_now(), key, &unused);
    if (unused != 0)
        forget_watches(client, unused);
    client->moved = true;
}

/* Ends a contender, and closes its key. The hub deletes the machine when it serves no other contender and the server
 * has replied. */
static void end(fencepost_grant *contender, fencepost_result result) {
    finish(contender, result);
    close_key(contender->client, contender->key);
}

/* Marks a claim of the program as lost. The program may still end it, and the server decides. So its key stays open. */
static void lapse(fencepost_grant *contender, fencepost_result result) {
    contender->stage = LAPSED;
    contender->result = result;
}

/* Ends a contender with the record in the event, if any. */
static void end_with_record(fencepost_grant *contender, const fencepost_event *event) {
    fencepost_result result =
        event->kind == FENCEPOST_EVENT_KIND_REPLAYED ? FENCEPOST_RESULT_REPLAYED : FENCEPOST_RESULT_OK;

    if (event->record != NULL && (contender->record = record_copy(event->record)) == NULL)
        result = event->kind == FENCEPOST_EVENT_KIND_COMPLETED ? FENCEPOST_RESULT_OK : FENCEPOST_RESULT_OUT_OF_MEMORY;
    contender->lost = false;
    end(contender, result);
}

/* Handles the server's reply to a downgrade. */
static void finish_downgrade(fencepost_grant *contender, const fencepost_event *event) {
    bool refused = event->kind == FENCEPOST_EVENT_KIND_REFUSED;

    if (contender->downgrade != DOWNGRADING)
        return;
    if (refused)
        describe(contender, event, &contender->refusal_detail);
    contender->downgrade = refused ? DOWNGRADE_REFUSED : DOWNGRADED;
    contender->refusal = refused ? event->reason : FENCEPOST_RESULT_OK;
}

/* Handles the refusal of an acquire, a downgrade, or the end of a grant. */
static void refuse(fencepost_grant *contender, const fencepost_event *event) {
    if (contender_is_held(contender)) {
        finish_downgrade(contender, event); /* the grant is unchanged */
        return;
    }
    if (contender->end == NO_END) {
        describe(contender, event, &contender->detail);
        contender->retry_after = event->retry_after;
        contender->record = event->record == NULL ? NULL : record_copy(event->record);
        end(contender, event->reason);
        return;
    }
    /* The claim stays as it was, and the program may end it in another way. */
    describe(contender, event, &contender->refusal_detail);
    contender->stage = contender->lost ? LAPSED : HELD;
    contender->refusal = event->reason;
}

static void on_event(fencepost_grant *contender, const fencepost_event *event) {
    switch (event->kind) {
    case FENCEPOST_EVENT_KIND_QUEUED:
        contender->ahead = event->has_ahead ? (int64_t)event->ahead : -1;
        break;
    case FENCEPOST_EVENT_KIND_ACQUIRED:
        contender->client->asking--;
        contender->stage = HELD;
        contender->has_fence = event->has_fence;
        contender->fence = event->fence;
        contender->valid_until = event->valid_until;
        contender->takeovers = event->takeovers;
        deadline_to_take(contender);
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
    case FENCEPOST_EVENT_KIND_REVOKE_REQUESTED:
        contender->revoke_requested = true;
        break;
    case FENCEPOST_EVENT_KIND_MIXED_LAYOUTS:
        /* Only the first one counts: the program may still use its text. */
        if (contender->foreign_node == NULL)
            contender->foreign_node = strndup((const char *)event->detail.data, event->detail.size);
        break;
    case FENCEPOST_EVENT_KIND_FOUND:
        contender->found = contenders_copy(event->found, event->found_count);
        end(contender, contender->found == NULL ? FENCEPOST_RESULT_OUT_OF_MEMORY : FENCEPOST_RESULT_OK);
        break;
    case FENCEPOST_EVENT_KIND_COMPLETED:
    case FENCEPOST_EVENT_KIND_REPLAYED:
    case FENCEPOST_EVENT_KIND_LOOKED:
        end_with_record(contender, event);
        break;
    case FENCEPOST_EVENT_KIND_SWEPT:
        contender->deleted = event->deleted;
        end(contender, FENCEPOST_RESULT_OK);
        break;
    case FENCEPOST_EVENT_KIND_LOST:
        contender->lost = true;
        describe(contender, event, &contender->detail);
        if (contender->claimed != NULL && contender->taken)
            lapse(contender, event->reason);
        else
            end(contender, event->reason);
        break;
    case FENCEPOST_EVENT_KIND_DOWNGRADED:
        finish_downgrade(contender, event);
        break;
    case FENCEPOST_EVENT_KIND_REFUSED:
        refuse(contender, event);
        break;
    case FENCEPOST_EVENT_KIND_RELEASED:
        contender->lost = false;
        end(contender, FENCEPOST_RESULT_OK);
        break;
    }
}

void contender_event(fencepost_client *client, uint64_t key, const fencepost_event *event) {
    fencepost_grant *contender = table_find(&client->locks->contenders, key);

    if (contender == NULL)
        return;
    on_event(contender, event);
    client_changed(client, contender->waiters);
}

/* Before an owner acquires, the hub handles its timers. The owner's grant may have ended while the computer was
 * suspended. */
static void catch_up(fencepost_client *client, uint64_t now) {
    if (now >= client->until) {
        fencepost_hub_handle_timeout(client->hub, now);
        client->moved = true;
    }
    client_settle(client);
}

/* Begins the acquire of an opened contender. */
static fencepost_result
ask(const fencepost_lock *lock, int64_t acquire_timeout, uint64_t now, fencepost_grant *contender) {
    fencepost_client *client = lock->client;
    fencepost_result result;

    if (!table_add(&client->locks->contenders, contender))
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    if (acquire_timeout == TRY)
        result = fencepost_hub_try_acquire(client->hub, now, contender->key);
    else
        result = fencepost_hub_acquire(client->hub, now, contender->key, acquire_timeout);
    if (lock->owned != NULL && (result == FENCEPOST_RESULT_BUSY || result == FENCEPOST_RESULT_UPGRADE))
        return fault(result, "%.200s: %s", lock->owned, fencepost_detail());
    return result;
}

/* Opens a machine. */
static fencepost_result open_machine(const fencepost_lock *lock, uint64_t now, fencepost_grant *contender) {
    fencepost_client *client = lock->client;
    fencepost_result result;
    uint8_t id[16];
    uint64_t seed;

    if ((result = random_take(&client->locks->random, id, &seed)) != FENCEPOST_RESULT_OK)
        return result;
    return fencepost_hub_open(client->hub, now, lock->settings, id, seed, &contender->key);
}

/* Opens a contender and begins its acquire. The caller holds the mutex. */
fencepost_result contender_open(fencepost_lock *lock, int64_t acquire_timeout, fencepost_grant **contender) {
    fencepost_client *client = lock->client;
    uint64_t now = fencepost_now();
    fencepost_grant *opened;
    fencepost_result result;

    if (lock->owned != NULL)
        catch_up(client, now);
    client->moved = true;
    if ((opened = malloc(sizeof *opened)) == NULL)
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    *opened = (fencepost_grant){.client = client, .ahead = -1, .retry_after = FENCEPOST_NEVER};
    if ((result = open_machine(lock, now, opened)) != FENCEPOST_RESULT_OK) {
        free(opened);
        return result;
    }
    if ((result = ask(lock, acquire_timeout, now, opened)) != FENCEPOST_RESULT_OK) {
        table_remove(&client->locks->contenders, opened->key);
        fencepost_hub_close(client->hub, now, opened->key, NULL);
        free(opened);
        return result;
    }
    client->asking++;
    deadline_to_reach(opened);
    fencepost_client_ref(client);
    *contender = opened;
    return FENCEPOST_RESULT_OK;
}

/* Ends a contender whose client is closed: its grant is lost. The hub closes all keys at once. */
void contender_closed(fencepost_grant *contender) {
    fencepost_result result = contender->result;

    if (contender->stage != LAPSED) {
        contender->lost = contender_is_held(contender);
        result = contender->lost ? FENCEPOST_RESULT_LOST_CONNECTION_CLOSED : FENCEPOST_RESULT_CLIENT_CLOSED;
        free(contender->detail);
        contender->detail = !contender->lost ? NULL
                            : contender->claimed == NULL
                                ? strdup("the client was closed while it held the lock")
                                : strdup("the client was closed before the claim had ended: it is left");
    }
    finish(contender, result);
}

/* Releases a claim that the program has not taken: the operation did not run, so another attempt may claim it. */
static void release_untaken(fencepost_grant *contender) {
    if (contender->claimed != NULL && !contender->taken && contender->stage == HELD)
        fencepost_hub_release(contender->client->hub, fencepost_now(), contender->key);
}

/* Cancels a contender. Its attempt reports the reason. The caller holds the mutex. */
void contender_give_up(fencepost_grant *contender, fencepost_result result, const char *why) {
    free(contender->detail);
    contender->detail = strdup(why);
    contender->client->stirred = true;
    release_untaken(contender);
    end(contender, result);
}

/* Cancels the contender, and frees it. Locks the mutex. */
void contender_free(fencepost_grant *contender) {
    fencepost_client *client = contender->client;

    client_lock(client);
    if (contender->stage != OVER) {
        release_untaken(contender);
        end(contender, FENCEPOST_RESULT_OK);
    }
    client_leave(client);
    contender_forget(contender);
}

/* Frees the memory of a contender that has ended. */
void contender_forget(fencepost_grant *contender) {
    fencepost_client *client = contender->client;

    free(contender->detail);
    free(contender->refusal_detail);
    free(contender->foreign_node);
    fencepost_contenders_free(contender->found);
    fencepost_record_free(contender->record);
    if (contender->claimed != NULL) {
        idempotency_unref(contender->claimed->of);
        claim_forget_result(contender);
    }
    free(contender->claimed);
    free(contender);
    fencepost_client_unref(client);
}
