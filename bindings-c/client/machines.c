/* Which machine of the hub serves which contenders of owners. The grants that an owner shares have one machine: that of
 * the first of them. Its commands keep the key of the first grant, even after this grant has ended. So a driver keeps
 * what belongs to this key, such as watches, until the last of these grants has ended. The client's mutex protects all
 * of this. */
#define _GNU_SOURCE
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct machine {
    uint8_t bytes[16]; /* its contender id, which the event acquired names */
    uint64_t key;
    size_t serves; /* contenders that have not ended */
};

static int compare(const void *one, const void *other) {
    return memcmp(((const struct machine *)one)->bytes, ((const struct machine *)other)->bytes, 16);
}

/* A contender of an owner has opened a machine. Returns false if there is no memory. */
bool machine_add(fencepost_grant *contender, const uint8_t bytes[16]) {
    struct machine *machine = malloc(sizeof *machine);

    if (machine == NULL)
        return false;
    memcpy(machine->bytes, bytes, sizeof machine->bytes);
    machine->key = contender->key;
    machine->serves = 1;
    if (tsearch(machine, &contender->client->locks->machines, compare) == NULL) {
        free(machine);
        return false;
    }
    contender->machine = machine;
    return true;
}

/* Returns whether the machine serves no other contender, and writes its key. */
bool machine_leave(fencepost_grant *contender, uint64_t *key) {
    struct machine *machine = contender->machine;

    *key = machine == NULL ? contender->key : machine->key;
    contender->machine = NULL;
    if (machine == NULL)
        return true;
    if (--machine->serves > 0)
        return false;
    tdelete(machine, &contender->client->locks->machines, compare);
    free(machine);
    return true;
}

/* A contender has the grant of the machine with this contender id: its own one, or that of an earlier grant of its
 * owner. */
void machine_granted(fencepost_grant *contender, const uint8_t bytes[16]) {
    struct machine sought, *const *found, *shared;
    uint64_t own;

    if (contender->machine == NULL)
        return;
    memcpy(sought.bytes, bytes, sizeof sought.bytes);
    if ((found = tfind(&sought, &contender->client->locks->machines, compare)) == NULL || *found == contender->machine)
        return;
    shared = *found;
    shared->serves++;
    machine_leave(contender, &own);
    contender->machine = shared;
}
