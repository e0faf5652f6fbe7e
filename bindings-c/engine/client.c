/* Clients: their beginning, and who keeps them in memory. Their end is in close.c. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../client/internal.h"

/* How long an acquire waits for the first connection, in microseconds, by default. */
#define CONNECT_WITHIN 5000000u

static char *copy(const char *text) {
    return text == NULL ? NULL : strdup(text);
}

/* Takes a kind of machine apart: `zookeeper-mutex` is ZooKeeper, and its locks are of the kind `lock`. */
static bool name_server(fencepost_client *client, const char *machine) {
    char *end;

    if ((client->server = copy(machine)) == NULL)
        return false;
    client->kind = "lock";
    if ((end = strchr(client->server, '-')) != NULL) {
        *end = '\0';
        if (strcmp(end + 1, "mutex") != 0 && strcmp(end + 1, "string") != 0)
            client->kind = end + 1;
    }
    return true;
}

static void destroy(fencepost_client *client) {
    fencepost_hub_free(client->hub);
    table_free(&client->contenders);
    free(client->server);
    free(client->prefix);
    if (client->loop >= 0)
        close(client->loop);
    if (client->news >= 0)
        close(client->news);
    if (client->wake >= 0)
        close(client->wake);
    pthread_cond_destroy(&client->dispatched);
    pthread_cond_destroy(&client->ended);
    pthread_mutex_destroy(&client->mutex);
    free(client);
}

fencepost_result fencepost_client_new(
    fencepost_hub *hub, const char *kind, const char *prefix, const fencepost_driver *driver, void *self,
    fencepost_client **client) {
    fencepost_client *made = calloc(1, sizeof *made);

    if (made == NULL) {
        fencepost_hub_free(hub);
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    }
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->dispatched, NULL);
    pthread_cond_init(&made->ended, NULL);
    made->references = 1;
    made->process = process_number();
    made->hub = hub;
    made->driver = driver;
    made->self = self;
    made->prefix = copy(prefix);
    made->until = made->keeper_due = made->reach_by = FENCEPOST_NEVER;
    made->connect_within = CONNECT_WITHIN;
    made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    made->news = made->loop = -1;
    if (!name_server(made, kind) || (prefix != NULL && made->prefix == NULL) || made->wake < 0) {
        fencepost_result result = made->wake < 0 ? FENCEPOST_RESULT_SYSTEM_ERROR : FENCEPOST_RESULT_OUT_OF_MEMORY;
        destroy(made);
        return fault(result, NULL);
    }
    *client = made;
    return FENCEPOST_RESULT_OK;
}

void fencepost_client_ref(fencepost_client *client) {
    __atomic_add_fetch(&client->references, 1, __ATOMIC_RELAXED);
}

void fencepost_client_unref(fencepost_client *client) {
    int before;

    if (__atomic_sub_fetch(&client->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    before = cancel_hold();
    client->driver->free(client->self);
    destroy(client);
    cancel_allow(before);
}

void fencepost_client_free(fencepost_client *client) {
    bool inside;

    if (client == NULL || !IS_OURS(client))
        return;
    client_lock(client);
    inside = close_is_inside(client);
    client_unlock(client);
    if (inside)
        return;              /* the caller's own callback: this thread goes on with the client behind it */
    fencepost_close(client); /* once more does nothing, but waits for another thread that closes it */
    fencepost_client_unref(client);
}
