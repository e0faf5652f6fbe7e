/* Watches. A read sets a watch, and the watch reports one event. When the contender has ended, the driver removes the
 * watch from the library's table. The library would keep it as long as the node exists. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Makes a watch that a read is about to set. Returns NULL if there is no memory. */
struct record *watch_open(struct driver *driver, const fencepost_command *command, uint64_t key, const char *path) {
    enum kind kind = command->operation == FENCEPOST_OPERATION_CHILDREN ? CHILD_WATCH : DATA_WATCH;
    struct record *watch = record_open(driver, kind, command->id);

    if (watch == NULL)
        return NULL;
    watch->key = key;
    watch->asked = true;
    if ((watch->path = strdup(path)) != NULL)
        return watch;
    record_close(watch);
    return NULL;
}

static void forget(struct record *watch) {
    watch_remove(watch);
    record_close(watch);
}

/* Handles the reply to the read of a watch. The library keeps the watch only if the read succeeded. */
void watch_read(struct record *watch, int rc) {
    watch->asked = false;
    if (rc != ZOK)
        record_close(watch);
    else if (watch->unwanted)
        forget(watch);
}

/* Removes the watch from the library's table. The server keeps watching the node, and the library ignores its event. */
void watch_remove(const struct record *watch) {
    struct driver *driver = watch->driver;

    /* After the end of the session, the program may have closed its handle. */
    if (driver->handle != NULL && !driver->over)
        connection_unwatch(
            driver->handle, watch->path, watch->kind == DATA_WATCH ? ZWATCHTYPE_DATA : ZWATCHTYPE_CHILD, watch_fired,
            record_context(watch));
}

void watch_fired(zhandle_t *handle, int type, int state, const char *path, void *context) {
    fencepost_watch_event event = FENCEPOST_WATCH_EVENT_GONE;
    fencepost_hub *hub;
    struct record *record;

    (void)handle, (void)state, (void)path;
    /* The library reports every change of the session to every watch, and keeps the watch. */
    if (type == ZOO_SESSION_EVENT || (record = record_enter(context, &hub)) == NULL)
        return;
    if (type == ZOO_DELETED_EVENT)
        event = FENCEPOST_WATCH_EVENT_DELETED;
    else if (type == ZOO_CHANGED_EVENT || type == ZOO_CHILD_EVENT)
        event = FENCEPOST_WATCH_EVENT_CHANGED;
    fencepost_hub_watch(hub, fencepost_now(), record->command, record->session, event);
    request_finish(record);
}

/* Removes the watches of a machine whose contender has ended. */
void watches_forget(void *self, uint64_t key) {
    struct driver *driver = self;
    struct record *record, *next;

    for (record = driver->records; record != NULL; record = next) {
        next = record->next;
        if (record->key != key || (record->kind != DATA_WATCH && record->kind != CHILD_WATCH))
            continue;
        if (record->asked)
            record->unwanted = true;
        else
            forget(record);
    }
}
