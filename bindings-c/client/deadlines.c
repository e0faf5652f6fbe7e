/* The deadlines of contenders: until when the program has to take a grant, and until when the first connection has to
 * exist. */
#include "internal.h"

/* A grant waits for the program for half its lease, but not longer than this. */
#define LONGEST_UNTAKEN 10000000u

/* An attempt got its grant. The program has to take it; until then no call holds it. */
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

/* The program has taken the grant, or the contender has ended. */
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

/* Until the client has reached a server: its address and the reason; afterwards NULL. */
const char *client_absence(const fencepost_client *client) {
    return client->driver->absent == NULL ? NULL : client->driver->absent(client->self);
}

/* An acquire has begun. If there has never been a connection, it waits for one only for a limited time. */
void deadline_to_reach(fencepost_grant *contender) {
    fencepost_client *client = contender->client;

    contender->reach_by = FENCEPOST_NEVER;
    if (client_absence(client) == NULL)
        return;
    contender->reach_by = fencepost_now() + client->locks->connect_within;
    if (contender->reach_by < client->locks->reach_by)
        client->locks->reach_by = contender->reach_by;
}

/* When the first of these deadlines ends. */
uint64_t deadlines_until(const fencepost_client *client) {
    uint64_t until = client->locks->reach_by;
    const fencepost_grant *contender;

    for (contender = client->locks->untaken; contender != NULL; contender = contender->next_untaken) {
        if (contender->take_by < until)
            until = contender->take_by;
    }
    return until;
}
