/* Contenders: one for each acquire, from its beginning to the end of its grant. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* A machine numbers its attempts with 32 bits, and no two may have one number. */
#define MOST_ATTEMPTS 0x80000000u

/* Says in words why it ended: what the hub says, and what the client library said of the command that it was. */
static void describe(fencepost_grant *contender, const fencepost_event *event) {
    const struct note *note = NULL;
    char text[512];
    int i;

    for (i = 0; i < NOTES && event->cause_command != 0; i++) {
        if (contender->client->notes[i].command == event->cause_command)
            note = &contender->client->notes[i];
    }
    snprintf(
        text, sizeof text, "%s%s%.*s%s%s%s", fencepost_result_text((int32_t)event->reason),
        event->has_detail ? ": " : "", (int)event->detail.size, (const char *)event->detail.data,
        note != NULL ? ": " : "", note != NULL ? note->text : "",
        event->kind == FENCEPOST_EVENT_KIND_LOST && contender->client->unkept
            ? ": the operating system gives no thread, so nothing renews between calls"
            : "");
    free(contender->detail);
    contender->detail = strdup(text); /* without memory, the result has words of its own */
}

/* It has come to its end. Says whether it was the last hold of its grant: the hub's machine is still to be closed. */
static bool end_hold(fencepost_grant *contender, fencepost_result result) {
    fencepost_client *client = contender->client;
    fencepost_grant *other;

    if (contender->stage == ASKING)
        client->asking--;
    overdue_forget(contender);
    contender->stage = OVER;
    contender->result = result;
    if (contender->tenure != NULL && (other = tenure_leave(contender)) != NULL) {
        table_replace(&client->contenders, other);
        return false;
    }
    table_remove(&client->contenders, contender->key);
    return true;
}

static void close_machine(fencepost_client *client, uint64_t key) {
    fencepost_hub_close(client->hub, fencepost_now(), key);
    client->moved = true;
}

/* It has come to its end. Behind the last hold of a grant, the hub's machine goes when the server has answered. */
static void end(fencepost_grant *contender, fencepost_result result) {
    if (end_hold(contender, result))
        close_machine(contender->client, contender->key);
}

/* The server has confirmed its release: the machine is at rest, and takes the place of the last one that was. */
static void end_released(fencepost_grant *contender) {
    fencepost_client *client = contender->client;
    uint64_t over = contender->key;

    if (!end_hold(contender, FENCEPOST_RESULT_OK))
        return;
    if (contender->lock != 0 && contender->attempt < MOST_ATTEMPTS) {
        over = client->spare.key;
        client->spare = (struct spare){contender->key, contender->lock};
    }
    if (over != 0)
        close_machine(client, over);
}

/* One of several holds is given back: the server need not hear of it. */
void contender_part(fencepost_grant *contender) {
    end(contender, FENCEPOST_RESULT_OK);
}

/* Whether a grant is held by anybody who has not begun to give it back. */
static bool is_kept(const fencepost_grant *contender) {
    return contender->tenure == NULL ? contender_is_held(contender) : tenure_held(contender->tenure) > 0;
}

/* Of a machine's holds, the first one. */
static fencepost_grant *first(fencepost_grant *contender) {
    return contender == NULL || contender->tenure == NULL ? contender : tenure_first(contender->tenure);
}

/* Its owner's last hold as a writer is given back, while others as a reader stay. With the lock. */
fencepost_result contender_lower(fencepost_grant *contender) {
    fencepost_client *client = contender->client;
    fencepost_result result = fencepost_hub_downgrade(client->hub, fencepost_now(), contender->key);

    client->moved = true;
    if (result == FENCEPOST_RESULT_OK) {
        contender->stage = LOWERING;
        tenure_share(contender->tenure, true);
    }
    return result;
}

bool contender_is_held(const fencepost_grant *contender) {
    return contender->stage == HELD || contender->stage == EXTENDING;
}

/* The server has answered to a downgrade. */
static void turn(fencepost_grant *contender, const fencepost_event *event) {
    bool refused = event->kind == FENCEPOST_EVENT_KIND_REFUSED;

    if (contender->tenure != NULL)
        tenure_share(contender->tenure, !refused);
    if (refused && (contender->stage == LOWERING || contender->turn == TURNS))
        describe(contender, event);
    if (contender->stage == LOWERING) {
        end(contender, refused ? event->reason : FENCEPOST_RESULT_OK);
    } else if (contender->turn == TURNS) {
        contender->turn = refused ? REFUSED : TURNED;
        if (refused && contender->tenure != NULL)
            contender->way = WRITER;
        contender->refusal = refused ? event->reason : FENCEPOST_RESULT_OK;
    }
}

static void tell(fencepost_grant *contender, const fencepost_event *event) {
    switch (event->kind) {
    case FENCEPOST_EVENT_KIND_QUEUED:
        contender->ahead = event->has_ahead ? (int64_t)event->ahead : -1;
        break;
    case FENCEPOST_EVENT_KIND_ACQUIRED:
        contender->client->asking--;
        contender->stage = HELD;
        contender->has_fence = event->has_fence;
        contender->fence = event->fence;
        contender->attempt = event->attempt;
        contender->valid_until = event->valid_until;
        overdue_granted(contender);
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
        contender->wanted = true;
        break;
    case FENCEPOST_EVENT_KIND_MIXED_LAYOUTS:
        /* Told once. What a program has been given must not go. */
        if (contender->stranger == NULL)
            contender->stranger = strndup((const char *)event->detail.data, event->detail.size);
        break;
    case FENCEPOST_EVENT_KIND_FOUND:
        contender->found = contenders_copy(event->found, event->found_count);
        end(contender, contender->found == NULL ? FENCEPOST_RESULT_OUT_OF_MEMORY : FENCEPOST_RESULT_OK);
        break;
    case FENCEPOST_EVENT_KIND_LOST:
        contender->lost = true;
        describe(contender, event);
        end(contender, event->reason);
        break;
    case FENCEPOST_EVENT_KIND_DOWNGRADED:
        turn(contender, event);
        break;
    case FENCEPOST_EVENT_KIND_REFUSED:
        describe(contender, event);
        end(contender, event->reason);
        break;
    case FENCEPOST_EVENT_KIND_RELEASED:
        end_released(contender);
        break;
    }
}

void contender_event(fencepost_client *client, uint64_t key, const fencepost_event *event) {
    fencepost_grant *contender = first(table_find(&client->contenders, key)), *next;
    /* What is held stays held: it is no acquire or release that was refused. */
    bool stays = contender != NULL && event->kind == FENCEPOST_EVENT_KIND_REFUSED && is_kept(contender);

    for (; contender != NULL; contender = next) {
        next = contender->beside;
        if (stays)
            turn(contender, event);
        else
            tell(contender, event);
    }
}

/* What the owner holds, once more; NULL if it holds nothing. With the lock. */
static fencepost_result again(const fencepost_lock *lock, int64_t patience, uint64_t now, fencepost_grant **further) {
    fencepost_client *client = lock->client;

    *further = NULL;
    if (lock->claim.id == NULL)
        return FENCEPOST_RESULT_OK;
    if (patience != TRY && patience != FENCEPOST_FOREVER && (patience < 0 || patience > LONGEST_PATIENCE))
        return FENCEPOST_RESULT_OK; /* the hub says what is wrong with it */
    if (now >= client->until) {
        /* The computer may have slept: what has ended meanwhile is told now, and is no grant any more. */
        fencepost_hub_handle_timeout(client->hub, now);
        client_pump(client);
    }
    return owners_reenter(client, &lock->claim, further);
}

/* Begins the acquire of an opened contender. */
static fencepost_result ask(const fencepost_lock *lock, int64_t patience, uint64_t now, fencepost_grant *contender) {
    fencepost_client *client = lock->client;
    fencepost_result result;

    if (!table_add(&client->contenders, contender))
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    if (patience == TRY)
        result = fencepost_hub_try_acquire(client->hub, now, contender->key);
    else
        result = fencepost_hub_acquire(client->hub, now, contender->key, patience);
    if (result == FENCEPOST_RESULT_OK && lock->claim.id != NULL)
        result = owners_begin(&lock->claim, contender);
    return result;
}

/* A machine at rest: one that knows the lock, or a new one. */
static fencepost_result take_machine(const fencepost_lock *lock, uint64_t now, uint64_t *key) {
    fencepost_client *client = lock->client;
    fencepost_result result;
    uint8_t owner[16];
    uint64_t seed;

    if (client->spare.key != 0 && client->spare.lock == lock->number) {
        *key = client->spare.key;
        client->spare.key = 0;
        return FENCEPOST_RESULT_OK;
    }
    if ((result = random_take(&client->random, owner, &seed)) != FENCEPOST_RESULT_OK)
        return result;
    return fencepost_hub_open(client->hub, now, lock->settings, owner, seed, key);
}

/* Opens a contender and begins its acquire; or the lock's owner holds it, and gets a further hold. With the lock. */
fencepost_result contender_open(fencepost_lock *lock, int64_t patience, fencepost_grant **contender) {
    fencepost_client *client = lock->client;
    uint64_t now = fencepost_now();
    fencepost_grant *opened;
    fencepost_result result;

    client->moved = true;
    if ((result = again(lock, patience, now, contender)) != FENCEPOST_RESULT_OK || *contender != NULL)
        return result;
    if ((opened = malloc(sizeof *opened)) == NULL)
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    *opened = (fencepost_grant){.client = client, .lock = lock->number, .ahead = -1};
    if ((result = take_machine(lock, now, &opened->key)) != FENCEPOST_RESULT_OK) {
        free(opened);
        return result;
    }
    if ((result = ask(lock, patience, now, opened)) != FENCEPOST_RESULT_OK) {
        table_remove(&client->contenders, opened->key);
        fencepost_hub_close(client->hub, now, opened->key);
        free(opened);
        return result;
    }
    client->asking++;
    overdue_asked(opened);
    fencepost_client_ref(client);
    *contender = opened;
    return FENCEPOST_RESULT_OK;
}

/* A further hold of the same grant; NULL: out of memory. With the lock. */
fencepost_grant *contender_beside(const fencepost_grant *contender) {
    fencepost_grant *hold = malloc(sizeof *hold);
    char *stranger = contender->stranger == NULL ? NULL : strdup(contender->stranger);

    if (hold == NULL || (contender->stranger != NULL && stranger == NULL)) {
        free(hold);
        free(stranger);
        return NULL;
    }
    *hold = *contender;
    hold->stage = HELD;
    hold->turn = STAYS;
    hold->detail = NULL;
    hold->stranger = stranger;
    hold->next = NULL;
    hold->untaken = false;
    hold->next_untaken = NULL;
    hold->untaken_place = NULL;
    fencepost_client_ref(hold->client);
    return hold;
}

/* Its client is being closed. */
void contender_closed(fencepost_grant *contender) {
    fencepost_grant *next;

    for (contender = first(contender); contender != NULL; contender = next) {
        next = contender->beside;
        free(contender->detail);
        contender->detail = NULL;
        end(contender, FENCEPOST_RESULT_CLIENT_CLOSED);
    }
}

/* Ends it, and what it stands for. */
static void give_up(fencepost_grant *contender, fencepost_result result) {
    if (contender_is_held(contender) && tenure_lowers(contender))
        contender_lower(contender);
    if (contender->stage != OVER)
        end(contender, result);
}

/* The same, for a reason that its attempt tells. With the lock. */
void contender_give_up(fencepost_grant *contender, fencepost_result result, const char *why) {
    free(contender->detail);
    contender->detail = strdup(why);
    contender->client->stirred = true;
    give_up(contender, result);
}

/* Gives it up, and what it stands for. Takes the lock. */
void contender_free(fencepost_grant *contender) {
    fencepost_client *client = contender->client;

    client_lock(client);
    give_up(contender, FENCEPOST_RESULT_OK);
    client_leave(client);
    contender_forget(contender);
}

/* Frees the memory of one that is over. */
void contender_forget(fencepost_grant *contender) {
    fencepost_client *client = contender->client;

    free(contender->detail);
    free(contender->stranger);
    fencepost_contenders_free(contender->found);
    free(contender);
    fencepost_client_unref(client);
}

/* Why it ended, in number and words. */
fencepost_result contender_fault(const fencepost_grant *contender) {
    if (contender->detail == NULL)
        return fault(contender->result, NULL);
    return fault(contender->result, "%s", contender->detail);
}

bool contender_decided(const void *subject) {
    return ((const fencepost_grant *)subject)->stage != ASKING;
}

bool contender_over(const void *subject) {
    return ((const fencepost_grant *)subject)->stage == OVER;
}

/* Somebody has asked for the lock, or nobody will any more. */
bool contender_wanted(const void *subject) {
    const fencepost_grant *contender = subject;

    return contender->wanted || contender->stage == OVER;
}

bool contender_turned(const void *subject) {
    const fencepost_grant *contender = subject;

    return contender->turn != TURNS || !contender_is_held(contender);
}

bool contender_extended(const void *subject) {
    return ((const fencepost_grant *)subject)->stage != EXTENDING;
}
