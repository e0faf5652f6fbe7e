/* What has waited too long: a grant for its program, and an acquire for the first connection. */
#define _GNU_SOURCE
#include <stdio.h>

#include "internal.h"

/* The longest that a grant waits for its program: half its lease, but not longer than this. */
#define LONGEST_UNTAKEN 10000000u

/* An attempt has been granted: its program has to take it, or it is held for nobody. */
void overdue_granted(fencepost_grant *contender) {
    fencepost_client *client = contender->client;
    uint64_t now = fencepost_now(), half;

    if (!contender->untaken || contender->untaken_place != NULL)
        return;
    half = contender->valid_until > now ? (contender->valid_until - now) / 2 : 0;
    contender->take_by = now + (half < LONGEST_UNTAKEN ? half : LONGEST_UNTAKEN);
    contender->next_untaken = client->untaken;
    contender->untaken_place = &client->untaken;
    if (client->untaken != NULL)
        client->untaken->untaken_place = &contender->next_untaken;
    client->untaken = contender;
}

/* It has been taken, or is over. */
void overdue_forget(fencepost_grant *contender) {
    contender->untaken = false;
    if (contender->untaken_place == NULL)
        return;
    *contender->untaken_place = contender->next_untaken;
    if (contender->next_untaken != NULL)
        contender->next_untaken->untaken_place = contender->untaken_place;
    contender->untaken_place = NULL;
    contender->next_untaken = NULL;
}

static const char *absence(const fencepost_client *client) {
    return client->driver->absent == NULL ? NULL : client->driver->absent(client->self);
}

/* An acquire has begun: where no connection has ever been, it does not wait for one as long as for the lock. */
void overdue_asked(fencepost_grant *contender) {
    fencepost_client *client = contender->client;

    contender->reach_by = FENCEPOST_NEVER;
    if (absence(client) == NULL)
        return;
    contender->reach_by = fencepost_now() + client->connect_within;
    if (contender->reach_by < client->reach_by)
        client->reach_by = contender->reach_by;
}

/* When there is something to do here. */
uint64_t overdue_until(const fencepost_client *client) {
    uint64_t until = client->reach_by;
    const fencepost_grant *contender;

    for (contender = client->untaken; contender != NULL; contender = contender->next_untaken) {
        if (contender->take_by < until)
            until = contender->take_by;
    }
    return until;
}

static void give_back(fencepost_client *client, uint64_t now) {
    fencepost_grant *contender, *next;

    for (contender = client->untaken; contender != NULL; contender = next) {
        next = contender->next_untaken;
        if (contender->take_by <= now)
            contender_give_up(
                contender, FENCEPOST_RESULT_LEASE_ENDED,
                "granted, and given back, because the program has not taken the grant within half a lease (10 s at "
                "most): ask fencepost_attempt_finish more often, and begin anew");
    }
}

static void refuse(fencepost_grant *contender) {
    fencepost_client *client = contender->client;
    uint64_t now = fencepost_now();
    char why[400];

    if (contender->stage != ASKING)
        return;
    if (contender->reach_by > now) {
        if (contender->reach_by < client->reach_by)
            client->reach_by = contender->reach_by;
        return;
    }
    snprintf(
        why, sizeof why, "no connection in %.3g s to %.255s: check the address, and that the server runs",
        (double)client->connect_within / 1e6, absence(client));
    contender_give_up(contender, FENCEPOST_RESULT_UNREACHABLE, why);
}

/* Does what is due. With the lock. */
void overdue_look(fencepost_client *client, uint64_t now) {
    give_back(client, now);
    if (client->reach_by > now)
        return;
    client->reach_by = FENCEPOST_NEVER;
    if (absence(client) != NULL)
        table_each(&client->contenders, refuse);
}

fencepost_result fencepost_client_set_connect_timeout(fencepost_client *client, int64_t timeout) {
    fencepost_result result;

    if (timeout <= 0 || timeout > INT64_MAX / 1000)
        return fault(
            FENCEPOST_RESULT_NOT_POSITIVE, "connect_timeout is %lld ms: give a positive number", (long long)timeout);
    if ((result = client_enter(client)) != FENCEPOST_RESULT_OK)
        return result;
    client->connect_within = (uint64_t)timeout * 1000u;
    client_unlock(client);
    return FENCEPOST_RESULT_OK;
}
