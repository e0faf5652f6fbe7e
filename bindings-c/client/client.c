/* Clients: their beginning and their end. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "internal.h"

static char *copy(const char *text) {
    return text == NULL ? NULL : strdup(text);
}

static void destroy(fencepost_client *client) {
    fencepost_hub_free(client->hub);
    table_free(&client->contenders);
    free(client->kind);
    free(client->prefix);
    if (client->loop >= 0)
        close(client->loop);
    if (client->news >= 0)
        close(client->news);
    if (client->wake >= 0)
        close(client->wake);
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
    made->references = 1;
    made->process = process_number();
    made->hub = hub;
    made->driver = driver;
    made->self = self;
    made->kind = copy(kind);
    made->prefix = copy(prefix);
    made->until = made->keeper_due = FENCEPOST_NEVER;
    made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    made->news = made->loop = -1;
    if (made->kind == NULL || (prefix != NULL && made->prefix == NULL) || made->wake < 0) {
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
    if (__atomic_sub_fetch(&client->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    client->driver->free(client->self);
    destroy(client);
}

static bool is_settled(const void *subject) {
    return fencepost_hub_pending(((const fencepost_client *)subject)->hub) == 0;
}

fencepost_result fencepost_close(fencepost_client *client) {
    fencepost_result result = client_enter(client);
    size_t left;

    if (result != FENCEPOST_RESULT_OK)
        return result;
    client->closing = true;
    table_each(&client->contenders, contender_closed);
    fencepost_hub_shutdown(client->hub, fencepost_now());
    client_pump(client);
    client_wake(client);
    if (client->driving)
        client_signal(client->wake); /* who drives is told, too */
    if (client->driver->descriptor(client->self) != FENCEPOST_OWNER_DRIVEN)
        client_wait(client, is_settled, client, fencepost_now() + PATIENCE_OF_RELEASE);
    left = fencepost_hub_pending(client->hub);
    client->closed = true;
    client_leave(client);
    keeper_stop(client);
    client->driver->close(client->self);
    if (left > 0)
        return fault(
            FENCEPOST_RESULT_CLEANUP_INCOMPLETE,
            "closed before the server had confirmed the release of %zu lock(s): they go with their lease or session",
            left);
    return FENCEPOST_RESULT_OK;
}

void fencepost_client_free(fencepost_client *client) {
    bool open;

    if (client == NULL || !IS_OURS(client))
        return;
    pthread_mutex_lock(&client->mutex);
    open = !client->closing;
    client_unlock(client);
    if (open)
        fencepost_close(client);
    fencepost_client_unref(client);
}
