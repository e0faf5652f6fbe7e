/* Owners: who holds a lock already gets it once more without asking the server. All of it is said and done under the
 * client's lock, so nothing comes in between. */
#define _GNU_SOURCE
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define LONGEST_OWNER 1024u

/* What an owner has of a lock: one contender that asks for it, and once that is granted, all holds of its grant. */
struct tenure {
    char *id;
    fencepost_grant *holds;
    bool known;  /* among the client's owners: it is asked for or held, and its last release has not begun */
    bool shared; /* others may read: the grant is a reader's, or becomes one */
};

static int compare(const void *one, const void *other) {
    return strcmp(((const struct tenure *)one)->id, ((const struct tenure *)other)->id);
}

static struct tenure *find(const fencepost_client *client, const struct claim *claim) {
    struct tenure key = {claim->id, NULL, false, false}, *const * found;

    found = tfind(&key, &client->owners, compare);
    return found == NULL ? NULL : *found;
}

/* Checks an owner, and writes it down. */
fencepost_result owners_claim(const char *name, const fencepost_options *options, struct claim *claim) {
    const char *owner = options->owner;
    fencepost_kind kind = options->kind;
    size_t size = strlen(owner), room;
    bool shares = kind == FENCEPOST_KIND_READER || kind == FENCEPOST_KIND_WRITER;
    int prefix;

    if (kind != FENCEPOST_KIND_MUTEX && !shares)
        return fault(FENCEPOST_RESULT_UNKNOWN_OPTION, "unknown option \"owner\": locks and read/write locks have one");
    if (size == 0 || size > LONGEST_OWNER)
        return fault(
            FENCEPOST_RESULT_INVALID_OPTION,
            "owner has %zu bytes: give 1 to %u that nobody else in this program uses, such as \"request-17\"", size,
            LONGEST_OWNER);
    room = strlen(name) + size + 32;
    if ((claim->id = malloc(room)) == NULL)
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    prefix = snprintf(claim->id, room, "%d %zu:%s", shares ? 1 : options->unfair ? 2 : 0, strlen(name), name);
    claim->owner = strcpy(claim->id + prefix, owner);
    claim->way = kind == FENCEPOST_KIND_READER ? READER : kind == FENCEPOST_KIND_WRITER ? WRITER : WHOLE;
    return FENCEPOST_RESULT_OK;
}

/* A further hold of what the owner has; NULL: it has nothing, and contends as everybody does. */
fencepost_result owners_reenter(fencepost_client *client, const struct claim *claim, fencepost_grant **further) {
    struct tenure *tenure = find(client, claim);
    fencepost_grant *hold;

    *further = NULL;
    if (tenure == NULL)
        return FENCEPOST_RESULT_OK;
    if (tenure->holds->stage == ASKING)
        return fault(
            FENCEPOST_RESULT_BUSY,
            "the owner \"%.200s\" is acquiring this lock already: wait for that acquire, or use another owner",
            claim->owner);
    if (tenure->shared && claim->way == WRITER)
        return fault(
            FENCEPOST_RESULT_UPGRADE,
            "the owner \"%.200s\" holds this lock as a reader, who cannot become a writer: release that first",
            claim->owner);
    if ((hold = contender_beside(tenure->holds)) == NULL)
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    hold->way = claim->way;
    hold->beside = tenure->holds;
    tenure->holds = hold;
    *further = hold;
    return FENCEPOST_RESULT_OK;
}

/* A contender begins to ask for an owner that has nothing. */
fencepost_result owners_begin(const struct claim *claim, fencepost_grant *contender) {
    struct tenure *tenure = calloc(1, sizeof *tenure);

    if (tenure == NULL || (tenure->id = strdup(claim->id)) == NULL ||
        tsearch(tenure, &contender->client->owners, compare) == NULL) {
        if (tenure != NULL)
            free(tenure->id);
        free(tenure);
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    }
    tenure->known = true;
    tenure->shared = claim->way == READER;
    tenure->holds = contender;
    contender->way = claim->way;
    contender->tenure = tenure;
    return FENCEPOST_RESULT_OK;
}

/* From here on the owner contends anew: the last release has begun; the server need not have heard of it. */
void owners_end(fencepost_client *client, struct tenure *tenure) {
    if (tenure->known)
        tdelete(tenure, &client->owners, compare);
    tenure->known = false;
}

/* How many holds nobody has given back. */
size_t tenure_held(const struct tenure *tenure) {
    const fencepost_grant *hold;
    size_t held = 0;

    for (hold = tenure->holds; hold != NULL; hold = hold->beside)
        held += contender_is_held(hold);
    return held;
}

/* How many other holds of that way nobody has given back. */
size_t tenure_others(const fencepost_grant *hold, enum way way) {
    const fencepost_grant *other;
    size_t others = 0;

    for (other = hold->tenure->holds; other != NULL; other = other->beside)
        others += other != hold && other->way == way && contender_is_held(other);
    return others;
}

/* Whether a hold is the last one of a writer, while there are readers' holds: when it goes, the grant becomes a
 * reader's. */
bool tenure_lowers(const fencepost_grant *hold) {
    return hold->tenure != NULL && !hold->tenure->shared && hold->way == WRITER && tenure_others(hold, WRITER) == 0 &&
           tenure_others(hold, READER) > 0;
}

/* Whether others may read from here on. */
void tenure_share(struct tenure *tenure, bool shared) {
    tenure->shared = shared;
}

fencepost_grant *tenure_first(const struct tenure *tenure) {
    return tenure->holds;
}

/* A hold is over. The first one of those that are left; NULL: it was the last one, and the tenure is no more. */
fencepost_grant *tenure_leave(fencepost_grant *hold) {
    struct tenure *tenure = hold->tenure;
    fencepost_grant **place = &tenure->holds;

    while (*place != hold)
        place = &(*place)->beside;
    *place = hold->beside;
    hold->tenure = NULL;
    hold->beside = NULL;
    if (tenure->holds != NULL)
        return tenure->holds;
    owners_end(hold->client, tenure);
    free(tenure->id);
    free(tenure);
    return NULL;
}
