/* The deadlines of contenders: for the program to take a grant, and for the first connection. */
#include "internal.h"

/* The program has to take a grant within half its lease, or within this time if that is shorter. */
#define LONGEST_UNTAKEN 10000000u

/* Sets the deadline for the program to take the grant of an attempt. */
void deadline_to_take(fencepost_grant *contender) {
    fencepost_client *client = contender->client;
    uint64_t now = fencepost_now(), half;

    if (!contender->untaken || contender->untaken_place != NULL)
        return;
    half = contender->valid_until > now ? (contender->valid_until - now) / 2 : 0;
    contender->take_by = now + (half < LONGEST_UNTAKEN ? half : LONGEST_UNTAKEN);
    contender->next_untaken = client->locks->untaken;
    contender->untaken_place = &client->locks->untaken;
    if (client->locks->untaken != NULL)
        client->locks->untaken->untaken_place = &contender->next_untaken;
    client->locks->untaken = contender;
}

/* Removes the deadlines: the program has taken the grant, or the contender has ended. */
void deadlines_forget(fencepost_grant *contender) {
    contender->untaken = false;
    if (contender->untaken_place == NULL)
        return;
    *contender->untaken_place = contender->next_untaken;
    if (contender->next_untaken != NULL)
        contender->next_untaken->untaken_place = contender->untaken_place;
    contender->untaken_place = NULL;
    contender->next_untaken = NULL;
}

/* Before the first connection: the address and the reason for the failure. Afterwards NULL. */
const char *client_absence(const fencepost_client *client) {
    return client->driver->absent == NULL ? NULL : client->driver->absent(client->self);
}

/* Sets the deadline of an acquire for the first connection. If there was a connection before, the acquire has no such
 * deadline. */
void deadline_to_reach(fencepost_grant *contender) {
    fencepost_client *client = contender->client;

    contender->reach_by = FENCEPOST_NEVER;
    if (client_absence(client) == NULL)
        return;
    contender->reach_by = fencepost_now() + client->locks->connect_within;
    if (contender->reach_by < client->locks->reach_by)
        client->locks->reach_by = contender->reach_by;
}

/* The earliest of these deadlines. */
uint64_t deadlines_until(const fencepost_client *client) {
    uint64_t until = client->locks->reach_by;
    const fencepost_grant *contender;

    for (contender = client->locks->untaken; contender != NULL; contender = contender->next_untaken) {
        if (contender->take_by < until)
            until = contender->take_by;
    }
    return until;
}
