/* Contenders whose deadline has passed: a grant that the program has not taken, and an acquire without a connection. */
#include <stdio.h>

#include "internal.h"

static void give_back(fencepost_client *client, uint64_t now) {
    fencepost_grant *contender, *next;

    for (contender = client->locks->untaken; contender != NULL; contender = next) {
        next = contender->next_untaken;
        if (contender->take_by <= now)
            contender_give_up(
                contender, FENCEPOST_RESULT_LEASE_ENDED,
                "granted, and then released, because the program has not taken the grant within half a lease (10 s at "
                "most): call fencepost_attempt_finish more often, and acquire again");
    }
}

static void refuse(fencepost_grant *contender) {
    fencepost_client *client = contender->client;
    uint64_t now = fencepost_now();
    char why[400];

    if (contender->stage != ASKING)
        return;
    if (contender->reach_by > now) {
        if (contender->reach_by < client->locks->reach_by)
            client->locks->reach_by = contender->reach_by;
        return;
    }
    snprintf(
        why, sizeof why, "no connection in %.3g s to %.255s: check the address, and that the server runs",
        (double)client->locks->connect_within / 1e6, client_absence(client));
    contender_give_up(contender, FENCEPOST_RESULT_UNREACHABLE, why);
}

/* Ends the contenders whose deadline has passed. The caller holds the mutex. */
void overdue_look(fencepost_client *client, uint64_t now) {
    give_back(client, now);
    if (client->locks->reach_by > now)
        return;
    client->locks->reach_by = FENCEPOST_NEVER;
    if (client_absence(client) != NULL)
        table_each(&client->locks->contenders, refuse);
}
