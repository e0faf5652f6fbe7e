/* Clients: a hub, its driver, and the client's locks. close.c closes them. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* How long an acquire waits for the first connection by default, in microseconds. */
#define CONNECT_WITHIN 5000000u

static void locks_free(struct locks *locks) {
    if (locks == NULL)
        return;
    table_free(&locks->contenders);
    free(locks->server);
    free(locks->prefix);
    free(locks);
}

/* Splits a kind of machine: `zookeeper-mutex` is the server ZooKeeper and the kind `lock`. */
static void name_server(struct locks *locks) {
    char *end = strchr(locks->server, '-');

    locks->kind = "lock";
    if (end == NULL)
        return;
    *end = '\0';
    if (strcmp(end + 1, "mutex") != 0 && strcmp(end + 1, "string") != 0)
        locks->kind = end + 1;
}

/* NULL if there is no memory. */
static struct locks *locks_new(const char *kind, const char *prefix) {
    struct locks *locks = calloc(1, sizeof *locks);

    if (locks == NULL)
        return NULL;
    locks->reach_by = FENCEPOST_NEVER;
    locks->connect_within = CONNECT_WITHIN;
    locks->server = strdup(kind);
    if (prefix != NULL)
        locks->prefix = strdup(prefix);
    if (locks->server == NULL || (prefix != NULL && locks->prefix == NULL)) {
        locks_free(locks);
        return NULL;
    }
    name_server(locks);
    return locks;
}

static const struct sink sink = {
    .event = contender_event,
    .until = deadlines_until,
    .due = overdue_look,
    .free = locks_free,
};

fencepost_result fencepost_client_new(
    fencepost_hub *hub, const char *kind, const char *prefix, const fencepost_driver *driver, void *self,
    fencepost_client **client) {
    struct locks *locks = locks_new(kind, prefix);
    fencepost_result result = locks == NULL ? fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL)
                                            : client_new(hub, driver, self, &sink, locks, client);

    if (result != FENCEPOST_RESULT_OK) {
        locks_free(locks);
        fencepost_hub_free(hub);
    }
    return result;
}

/* 365 days in ms, as in the core. */
#define LONGEST_CONNECT_TIMEOUT (INT64_C(365) * 24 * 3600 * 1000)

fencepost_result fencepost_client_set_connect_timeout(fencepost_client *client, int64_t timeout) {
    fencepost_result result;

    if (timeout <= 0)
        return fault(
            FENCEPOST_RESULT_NOT_POSITIVE, "connect_timeout is %lld ms: give a positive number", (long long)timeout);
    if (timeout > LONGEST_CONNECT_TIMEOUT)
        return fault(
            FENCEPOST_RESULT_TOO_LONG, "connect_timeout is %lld ms: give at most 365 days", (long long)timeout);
    if ((result = client_enter(client)) != FENCEPOST_RESULT_OK)
        return result;
    client->locks->connect_within = (uint64_t)timeout * 1000u;
    client_unlock(client);
    return FENCEPOST_RESULT_OK;
}
