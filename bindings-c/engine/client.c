/* Makes and frees clients, and counts their references. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "internal.h"

static void destroy(fencepost_client *client) {
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

/* Makes a client. After an error, the caller still owns the hub and the locks. */
fencepost_result client_new(
    fencepost_hub *hub, const fencepost_driver *driver, void *self, const struct sink *sink, struct locks *locks,
    fencepost_client **client) {
    fencepost_client *made = calloc(1, sizeof *made);

    if (made == NULL)
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->dispatched, NULL);
    pthread_cond_init(&made->ended, NULL);
    made->references = 1;
    made->process = process_number();
    made->hub = hub;
    made->driver = driver;
    made->self = self;
    made->sink = sink;
    made->locks = locks;
    made->until = made->background_due = FENCEPOST_NEVER;
    made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    made->news = made->loop = -1;
    if (made->wake < 0) {
        destroy(made);
        return fault(FENCEPOST_RESULT_SYSTEM_ERROR, NULL);
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
    fencepost_hub_free(client->hub);
    client->sink->free(client->locks);
    destroy(client);
    cancel_allow(before);
}
